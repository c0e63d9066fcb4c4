import { type AuthorCount, startOfWeek } from "../../../domain/code/commits/count-authors.ts";
import type { User } from "../../../db/schema/index.ts";
import { formatTime } from "../../../lib/time.ts";
import { Count } from "../count.tsx";
import { Person } from "./commit-line.tsx";

/** Columns of a drawing, and its height, in units of the drawing. */
const COLUMNS_MIN = 26;
const COLUMNS_MAX = 104;
const HEIGHT = 24;

type Weeks = AuthorCount["weeks"];

/** The weeks that drawings beside each other show, and how high their columns are. */
interface Scale {
  readonly first: number;
  readonly columns: number;
  readonly weeksPerColumn: number;
  /** The commits of the highest column. */
  readonly most: number;
}

/** The scale on which the commits of some authors are drawn. */
export function scaleOf(authors: readonly { readonly weeks: Weeks }[]): Scale | undefined {
  const range = rangeOf(authors.flatMap(({ weeks }) => weeks));
  if (range.first > range.last) return undefined;
  const { last } = range;
  const first = Math.min(range.first, last - COLUMNS_MIN + 1);
  const weeksPerColumn = Math.ceil((last - first + 1) / COLUMNS_MAX);
  const columns = Math.ceil((last - first + 1) / weeksPerColumn);
  const scale = { first, columns, weeksPerColumn, most: 1 };
  const most = authors.reduce(
    (sum, { weeks }) => Math.max(sum, ...columnsOf(weeks, scale).values()),
    1,
  );
  return { ...scale, most };
}

/** The first week and the last one; of no weeks the first is after the last. */
function rangeOf(weeks: Weeks): { first: number; last: number } {
  let [first, last] = [Infinity, -Infinity];
  for (const [week] of weeks) {
    first = Math.min(first, week);
    last = Math.max(last, week);
  }
  return { first, last };
}

/** Commits by column. */
function columnsOf(weeks: Weeks, { first, weeksPerColumn }: Scale): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [week, commits] of weeks) {
    const column = Math.floor((week - first) / weeksPerColumn);
    counts.set(column, (counts.get(column) ?? 0) + commits);
  }
  return counts;
}

/** Commits over time as columns, for readers who see; the words beside it say the number. */
export function CommitColumns({ weeks, scale }: { weeks: Weeks; scale: Scale }) {
  const columns = Array.from(columnsOf(weeks, scale), ([column, commits]) => {
    const height = Math.max(1, Math.round((commits * HEIGHT) / scale.most));
    return `M${column * 4} ${HEIGHT}v-${height}h3v${height}`;
  });
  return (
    <svg
      class="columns"
      viewBox={`0 0 ${scale.columns * 4} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={columns.join("")} />
    </svg>
  );
}

/** The months of the first and the last commit: "2021-03 to 2026-11". */
export function spanOf(weeks: Weeks): string {
  const { first, last } = rangeOf(weeks);
  const [from, to] = [first, last].map((week) => formatTime(startOfWeek(week)).slice(0, 7));
  return from === to ? `${from}` : `${from} to ${to}`;
}

interface AuthorListProps {
  authors: readonly AuthorCount[];
  /** By address in lower case. */
  accounts: ReadonlyMap<string, User>;
  scale: Scale;
}

/** Authors with their commits: those with the most first. */
export function AuthorList({ authors, accounts, scale }: AuthorListProps) {
  return (
    <ol class="authors">
      {authors.map(({ name, email, commits, weeks }) => (
        <li class="box inside">
          <div class="row">
            <span class="grow">
              <Person account={accounts.get(email)} name={name} />
            </span>
            <span>
              <Count of={commits} />
              {` commit${commits === 1 ? "" : "s"}`}
            </span>
          </div>
          <CommitColumns weeks={weeks} scale={scale} />
          <div class="soft">{spanOf(weeks)}</div>
        </li>
      ))}
    </ol>
  );
}
