import { Hono } from "hono";

import {
  type GraphEntry,
  type GraphRef,
  listGraph,
  refsByCommit,
} from "../../../domain/code/commits/list-graph.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { listRefNames, type RefNames } from "../../../domain/code/git/ref-names.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../../lib/failure.ts";
import type { CommitEntry } from "../../../shapes/git/commit.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Count } from "../count.tsx";
import { Icon } from "../icon.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { CommitAuthor, CommitMarks, subjectOf } from "./commit-line.tsx";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** Commits of a page, as many as Gitea shows. */
const PAGE_SIZE = 100;

/** Names of branches and tags that a commit shows. */
const NAMES_MAX = 3;

/** Branches by which the graph is narrowed. */
const BRANCHES_MAX = 20;

/** Branches that the menu offers; others are named. */
const BRANCHES_OFFERED_MAX = 50;

/** Units of the drawing: from one lane to the next, the height of a row, and a commit's radius. */
const LANE = 14;
const ROW = 32;
const RADIUS = 4;

/** Colors of lanes, which repeat. */
const COLORS = 6;

/** The history of all branches and tags, with a drawing of how they branch and merge. */
export const graph = new Hono<WebEnv>();

graph.get("/:owner/:repo/graph", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const names = (c.req.queries("branch") ?? [])
    .filter((name) => name !== "")
    .slice(0, BRANCHES_MAX);
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const listed = await listGraph(snapshot, names, list);
    if (!listed) return undefined;
    const { repository } = snapshot;
    const nodes = listed.items.map(({ commitOid }) => repository.graph.find(commitOid));
    const parts = { hasStat: false, hasFiles: false, hasVerification: false, statusesOf: repo.row };
    const commits = await readCommits(ctx, snapshot, nodes, parts);
    const branches = listRefNames(snapshot, "refs/heads/", BRANCHES_OFFERED_MAX);
    return { ...listed, commits, branches, refs: refsByCommit(snapshot) };
  });
  if (!read) throw notFound();
  const { items, total, commits, branches, refs } = read;
  const lanes = items.flatMap(({ lane, above, below, passing }) => [
    lane,
    ...above,
    ...below,
    ...passing,
  ]);
  const width = LANE * (1 + lanes.reduce((most, lane) => Math.max(most, lane), 0));
  const path = repositoryPath(repo);
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Commit graph - ${repo.owner.name}/${repo.row.name}` },
    <>
      <div class="code-bar">
        <h2>
          <Count of={total} />
          {` commit${total === 1 ? "" : "s"} of ${names.length === 0 ? "all branches and tags" : names.join(", ")}`}
        </h2>
        <a href={sourcePath(repo, "commits", { kind: "branch", name: repo.row.defaultBranch })}>
          List
        </a>
        {names.length === 0 ? undefined : <a href={`${path}/graph`}>All branches</a>}
        <BranchChooser path={path} branches={branches} chosen={names} />
      </div>
      {items.length === 0 && total > list.offset ? (
        <p class="notice">This part of the history is too long to be drawn.</p>
      ) : undefined}
      {items.length === 0 ? undefined : (
        <div class="box scroll" tabindex={0} role="region" aria-label="Commit graph">
          <ol class="graph">
            {items.map((row, at) => (
              <Row
                page={page}
                row={row}
                width={width}
                commit={commits[at]}
                refs={refs.get(row.commitOid) ?? []}
              />
            ))}
          </ol>
        </div>
      )}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

interface BranchChooserProps {
  /** Of the repository. */
  path: string;
  branches: RefNames;
  chosen: readonly string[];
}

/** The menu by which the graph is narrowed to some branches. */
function BranchChooser({ path, branches: { names, total }, chosen }: BranchChooserProps) {
  const offered = [...new Set([...chosen, ...names])];
  return (
    <details class="menu end">
      <summary class="button">Branches</summary>
      <form class="menu-body" action={`${path}/graph`}>
        {offered.map((name) => (
          <label class="check">
            <input type="checkbox" name="branch" value={name} checked={chosen.includes(name)} />
            {name}
          </label>
        ))}
        {total > names.length ? (
          <input
            name="branch"
            aria-label="Name of another branch"
            placeholder="Another branch"
            autocapitalize="none"
            spellcheck={false}
          />
        ) : undefined}
        <button type="submit">Show</button>
      </form>
    </details>
  );
}

interface RowProps {
  page: EnteredRepository;
  row: GraphEntry;
  /** Of the drawing, the same for all rows. */
  width: number;
  commit: CommitEntry | undefined;
  refs: readonly GraphRef[];
}

function Row({ page: { repo, ctx }, row, width, commit, refs }: RowProps) {
  if (!commit) return <></>;
  const { commitOid } = commit;
  const more = refs.length - NAMES_MAX;
  return (
    <li>
      <Drawing row={row} width={width} />
      <span class="grow">
        {refs.slice(0, NAMES_MAX).map(({ kind, name }) => (
          <>
            <a class="label" href={sourcePath(repo, "commits", { kind, name })}>
              <Icon name={kind} />
              {name}
            </a>{" "}
          </>
        ))}
        {more > 0 ? <span class="soft">{`and ${more} more `}</span> : undefined}
        <a href={commitPath(repo, commitOid)}>{subjectOf(commit)}</a>{" "}
        <CommitMarks repo={repo} entry={commit} />
      </span>
      <span class="soft">
        <CommitAuthor entry={commit} />
      </span>
      <span class="soft">
        <Ago at={commit.commit.committer.timeSeconds * 1000} now={ctx.now} />
      </span>
    </li>
  );
}

const middleOf = (lane: number): number => lane * LANE + LANE / 2;

/** The lanes at a commit: lines that pass by, end in it, or begin there. */
function Drawing({ row, width }: { row: GraphEntry; width: number }) {
  const { lane, above, below, passing } = row;
  const [x, y] = [middleOf(lane), ROW / 2];
  const lines = [
    ...passing.map((at) => [at, `M${middleOf(at)} 0V${ROW}`] as const),
    ...above.map((at) => {
      const from = middleOf(at);
      return [at, `M${from} 0C${from} ${y} ${x} 0 ${x} ${y}`] as const;
    }),
    ...below.map((at, parent) => {
      const to = middleOf(at);
      // A branch has its color up to where it began, and a merge that of what is merged.
      return [parent === 0 ? lane : at, `M${x} ${y}C${x} ${ROW} ${to} ${y} ${to} ${ROW}`] as const;
    }),
  ];
  return (
    <svg viewBox={`0 0 ${width} ${ROW}`} aria-hidden="true">
      {lines.map(([at, d]) => (
        <path class={`lane-${at % COLORS}`} d={d} />
      ))}
      <circle class={`lane-${lane % COLORS}`} cx={x} cy={y} r={RADIUS} />
    </svg>
  );
}
