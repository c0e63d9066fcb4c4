import type { User } from "../../../db/schema/index.ts";
import type { IssueChoices } from "../../../domain/issues/lists/list-choices.ts";
import { Count } from "../count.tsx";
import { type ListQuery, type ListState, SORT_NAMES, STATES, withParameters } from "./filters.ts";

interface StateTabsProps {
  url: string;
  query: ListQuery;
  /** How many there are, if nothing else narrows the list. */
  counts: Partial<Record<ListState, number>>;
}

/** The links to the same list of another state. */
export function StateTabs({ url, query, counts }: StateTabsProps) {
  const { text, labels, milestone, author, assignee } = query;
  const isWhole = [text, ...labels, milestone, author, assignee].every((each) => each === "");
  return (
    <nav class="choice grow" aria-label="State">
      {(Object.keys(STATES) as ListState[]).map((state) => {
        const count = isWhole ? counts[state] : undefined;
        return (
          <a
            href={withParameters(url, { state: state === "open" ? "" : state })}
            aria-current={state === query.state ? "page" : undefined}
          >
            {STATES[state]}
            {count === undefined ? undefined : (
              <>
                {" "}
                <Count of={count} />
              </>
            )}
          </a>
        );
      })}
    </nav>
  );
}

interface IssueFiltersProps {
  query: ListQuery;
  choices: IssueChoices | undefined;
  /** The signed-in reader. */
  me: User | undefined;
  kind: "issues" | "pulls";
  /** What the list has to do with the reader, if its address says so. */
  type?: string | undefined;
}

/** The form that narrows and orders a list. */
export function IssueFilters({ query, choices, me, kind, type }: IssueFiltersProps) {
  const { text, state, sort, labels, milestone, author, assignee } = query;
  const more = labels.slice(1);
  return (
    <form class="filters" role="search" aria-label="Filter">
      <input
        type="search"
        name="q"
        value={text}
        aria-label="Words and terms"
        placeholder="Words, or terms such as is:closed or -label:bug"
      />
      {type === undefined ? undefined : <input type="hidden" name="type" value={type} />}
      {state === "open" ? undefined : <input type="hidden" name="state" value={state} />}
      {more.map((name) => (
        <input type="hidden" name="label" value={name} />
      ))}
      {author === "" ? undefined : <input type="hidden" name="author" value={author} />}
      {assignee === "" ? undefined : <input type="hidden" name="assignee" value={assignee} />}
      {choices ? (
        <>
          <Choice
            label="Label"
            name="label"
            any="Any label"
            value={labels[0] ?? ""}
            options={choices.labels.map(({ name }) => name)}
          />
          <Choice
            label="Milestone"
            name="milestone"
            any="Any milestone"
            value={milestone}
            options={choices.milestones.map(({ title }) => title)}
          />
        </>
      ) : undefined}
      <select name="sort" aria-label="Order">
        {Object.entries(SORT_NAMES).map(([name, title]) => (
          <option value={name} selected={name === sort}>
            {title}
          </option>
        ))}
      </select>
      <button type="submit">Search</button>
      {me && choices ? <Own kind={kind} /> : undefined}
    </form>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  /** The words for no choice. */
  any: string;
  value: string;
  options: readonly string[];
}

function Choice({ label, name, any, value, options }: ChoiceProps) {
  if (options.length === 0 && value === "") return <></>;
  const isListed = value === "" || options.includes(value);
  return (
    <select name={name} aria-label={label}>
      <option value="">{any}</option>
      {(isListed ? options : [value, ...options]).map((option) => (
        <option selected={option === value}>{option}</option>
      ))}
    </select>
  );
}

/** Lists about the reader, by the terms of a search. */
const OWN = {
  "author:@me": "Yours",
  "assignee:@me": "Assigned to you",
  "mentions:@me": "Mentioning you",
} as const;

const OWN_PULLS = { "review-requested:@me": "Your review requested" } as const;

function Own({ kind }: { kind: "issues" | "pulls" }) {
  return (
    <ul class="links">
      {Object.entries({ ...OWN, ...(kind === "pulls" ? OWN_PULLS : {}) }).map(([term, title]) => (
        <li>
          <a href={`?q=${encodeURIComponent(term)}`}>{title}</a>
        </li>
      ))}
    </ul>
  );
}
