import type { Context } from "hono";

import type { Milestone } from "../../../db/schema/index.ts";
import type { MilestoneOrder } from "../../../domain/issues/milestones/list-milestones.ts";
import { Ago } from "../ago.tsx";
import { Count } from "../count.tsx";
import { readSearchText } from "../read-search-text.ts";
import { Day } from "../time.tsx";
import { STATES, withParameters } from "./filters.ts";

/** The orders of milestones, by the names that addresses of Gitea have. */
const ORDERS = {
  closestduedate: "Closest due date",
  furthestduedate: "Furthest due date",
  leastcomplete: "Least complete",
  mostcomplete: "Most complete",
  leastissues: "Fewest issues",
  mostissues: "Most issues",
  name: "Title",
  id: "Oldest",
} as const satisfies Record<MilestoneOrder, string>;

/** What a list of milestones is asked for. */
interface MilestoneQuery {
  readonly state: "open" | "closed";
  /** A part of the title. */
  readonly name: string;
  readonly order: MilestoneOrder;
}

export function readMilestoneQuery(c: Context): MilestoneQuery {
  const requested = c.req.query("sort") ?? "";
  return {
    state: c.req.query("state") === "closed" ? "closed" : "open",
    name: readSearchText(c),
    order: Object.hasOwn(ORDERS, requested) ? (requested as MilestoneOrder) : "closestduedate",
  };
}

interface MilestoneFiltersProps {
  path: string;
  query: MilestoneQuery;
}

export function MilestoneFilters({ path, query: { state, name, order } }: MilestoneFiltersProps) {
  return (
    <form class="filters" role="search" action={path}>
      <input type="hidden" name="state" value={state} />
      <input
        type="search"
        name="q"
        value={name}
        aria-label="Part of a milestone's title"
        placeholder="Part of a title"
      />
      <span class="pair">
        <label for="sort">Order</label>
        <select id="sort" name="sort">
          {Object.entries(ORDERS).map(([each, label]) => (
            <option value={each} selected={each === order}>
              {label}
            </option>
          ))}
        </select>
      </span>
      <button type="submit">Search</button>
    </form>
  );
}

interface StatesProps {
  url: string;
  state: "open" | "closed";
  counts: { open: number; closed: number };
}

/** The links to the open and to the closed milestones, with all other parameters of the query. */
export function MilestoneStates({ url, state, counts }: StatesProps) {
  return (
    <nav class="choice grow" aria-label="State">
      {(["open", "closed"] as const).map((each) => (
        <a
          href={withParameters(url, { state: each })}
          aria-current={each === state ? "page" : undefined}
        >
          {`${STATES[each]} `}
          <Count of={counts[each]} />
        </a>
      ))}
    </nav>
  );
}

/** How far a milestone is, and when it is due. */
export function MilestoneFacts({ milestone, now }: { milestone: Milestone; now: number }) {
  const { title, openIssueCount, closedIssueCount, closedAt, deadlineAt, isClosed } = milestone;
  const total = openIssueCount + closedIssueCount;
  const percent = total === 0 ? 0 : Math.floor((100 * closedIssueCount) / total);
  const isOverdue = !isClosed && deadlineAt !== null && deadlineAt < now;
  return (
    <div class="soft row">
      <progress max="100" value={percent} aria-label={`Progress of ${title}`} />
      <span>{`${percent}% complete`}</span>
      <span>
        <Count of={openIssueCount} />
        {" open, "}
        <Count of={closedIssueCount} />
        {" closed"}
      </span>
      {isClosed && closedAt !== null ? (
        <span>
          {"Closed "}
          <Ago at={closedAt} now={now} />
        </span>
      ) : undefined}
      {deadlineAt === null ? undefined : (
        <span>
          {"Due on "}
          <Day at={deadlineAt} />
          {" ("}
          <Ago at={deadlineAt} now={now} />
          {")"}
        </span>
      )}
      {isOverdue ? <span class="label removed">Overdue</span> : undefined}
    </div>
  );
}
