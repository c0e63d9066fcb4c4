import type { User } from "../../../db/schema/index.ts";
import { type IssueContext, isDraftTitle } from "../../../shapes/issues/issue.ts";
import { accountPath, issuePath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
import { Count } from "../count.tsx";
import { Icon } from "../icon.tsx";
import { Day } from "../time.tsx";
import { LabelChip } from "./label.tsx";

interface IssueRowsProps {
  issues: readonly IssueContext[];
  now: number;
  /** Whether each is shown with the name of its repository. */
  showsRepository?: boolean;
  /** How the issues are selected; undefined where they can't be. */
  selection?: Selection | undefined;
}

/** The form to whose checkboxes issues of a list belong. */
interface Selection {
  /** The id of the form. */
  form: string;
  /** The name of an issue's checkbox; undefined for one that can't be selected. */
  nameOf: (issue: IssueContext) => string | undefined;
  isSelected: (name: string) => boolean;
}

/** Issues and pull requests, one a row. */
export function IssueRows({ issues, ...props }: IssueRowsProps) {
  if (issues.length === 0) return <></>;
  return (
    <ul class="box commits">
      {issues.map((issue) => (
        <IssueRow issue={issue} {...props} />
      ))}
    </ul>
  );
}

type IssueRowProps = Omit<IssueRowsProps, "issues"> & { issue: IssueContext };

function IssueRow({ issue, now, showsRepository = false, selection }: IssueRowProps) {
  const { repo, row, labels, milestone, assignees } = issue;
  const list = `${repositoryPath(repo)}/${row.isPull ? "pulls" : "issues"}`;
  const name = `#${row.number}`;
  const shown = showsRepository ? `${repo.owner.name}/${repo.row.name}${name}` : name;
  return (
    <li>
      {selection ? <SelectBox issue={issue} selection={selection} name={shown} /> : undefined}
      <div class="grow">
        <StateIcon issue={issue} />
        <a class="title" href={issuePath(issue)}>
          {row.title}
        </a>{" "}
        {labels.map((label) => (
          <>
            <LabelChip
              label={label}
              href={`${list}?label=${encodeURIComponent(label.name)}`}
            />{" "}
          </>
        ))}
        <div class="soft">
          {shown}
          {" opened "}
          <Ago at={row.createdAt} now={now} />
          {" by "}
          <Poster issue={issue} />
          {row.isClosed && row.closedAt !== null ? (
            <>
              {issue.pull?.mergedAt ? ", merged " : ", closed "}
              <Ago at={issue.pull?.mergedAt ?? row.closedAt} now={now} />
            </>
          ) : undefined}
          {milestone ? (
            <>
              {", "}
              <a href={`${repositoryPath(repo)}/milestone/${milestone.id}`}>{milestone.title}</a>
            </>
          ) : undefined}
          {row.deadlineAt === null ? undefined : (
            <>
              {", due "}
              <Day at={row.deadlineAt} />
            </>
          )}
        </div>
      </div>
      <Assignees assignees={assignees} />
      {row.commentCount === 0 ? undefined : (
        <a class="soft" href={issuePath(issue)} aria-label={`${row.commentCount} comments`}>
          <Icon name="comment" />
          <Count of={row.commentCount} />
        </a>
      )}
    </li>
  );
}

interface SelectBoxProps {
  issue: IssueContext;
  selection: Selection;
  /** The issue's name for its reader. */
  name: string;
}

function SelectBox({ issue, selection, name: shown }: SelectBoxProps) {
  const name = selection.nameOf(issue);
  return (
    <input
      type="checkbox"
      form={selection.form}
      name={name}
      value="on"
      checked={name !== undefined && selection.isSelected(name)}
      disabled={name === undefined}
      aria-label={`Select ${shown}`}
    />
  );
}

/** The user who wrote an issue, or the name that they had where it came from. */
export function Poster({
  issue: { poster, row },
}: {
  issue: Pick<IssueContext, "poster" | "row">;
}) {
  if (row.originalAuthor !== "") return <>{row.originalAuthor}</>;
  return poster ? <a href={accountPath(poster)}>{poster.name}</a> : <>Ghost</>;
}

function Assignees({ assignees }: { assignees: readonly User[] }) {
  if (assignees.length === 0) return <></>;
  const names = assignees.map(({ name }) => name).join(", ");
  return (
    <span title={`Assigned to ${names}`}>
      <span class="hidden">{`Assigned to ${names}`}</span>
      {assignees.map((account) => (
        <Avatar account={account} size={24} />
      ))}
    </span>
  );
}

/** The states of issues and pull requests, with their names. */
const STATE_NAMES = {
  open: "Open",
  draft: "Draft",
  merged: "Merged",
  closed: "Closed",
} as const;
type IssueState = keyof typeof STATE_NAMES;

const stateOf = ({ row, pull }: IssueContext): IssueState => {
  if (pull && pull.mergedAt !== null) return "merged";
  if (row.isClosed) return "closed";
  return row.isPull && isDraftTitle(row.title) ? "draft" : "open";
};

const iconOf = ({ row }: IssueContext): string =>
  row.isPull ? "pull" : row.isClosed ? "check" : "issue";

/** The state of an issue as an icon in its color, with its name for screen readers. */
export function StateIcon({ issue }: { issue: IssueContext }) {
  const state = stateOf(issue);
  return (
    <span class={`state ${state}`} title={STATE_NAMES[state]}>
      <Icon name={iconOf(issue)} />
      <span class="hidden">{`${STATE_NAMES[state]} `}</span>
    </span>
  );
}

/** The state of an issue in words, as its own page shows it. */
export function StateLabel({ issue }: { issue: IssueContext }) {
  const state = stateOf(issue);
  return (
    <span class={`state badge ${state}`}>
      <Icon name={iconOf(issue)} />
      {STATE_NAMES[state]}
    </span>
  );
}
