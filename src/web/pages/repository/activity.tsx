import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { User } from "../../../db/schema/index.ts";
import { type AuthorCounts, countAuthors } from "../../../domain/code/commits/count-authors.ts";
import { findContentRevision } from "../../../domain/code/contents/find-entry.ts";
import { hasRefs, readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { type PulsePart, readPulse } from "../../../domain/exchange/activities/read-pulse.ts";
import { findByAddresses } from "../../../domain/people/accounts/find-by-addresses.ts";
import { formatTime } from "../../../lib/time.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Count } from "../count.tsx";
import { Icon } from "../icon.tsx";
import { Time } from "../time.tsx";
import { AuthorList, CommitColumns, scaleOf, spanOf } from "./authors.tsx";
import { enterRepositoryPage, type EnteredRepository, READ_CODE } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** Authors that are listed, of a period and of the whole history. */
const TOP_AUTHORS_MAX = 10;
const AUTHORS_MAX = 100;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The periods of addresses, as Gitea has them, with their words and days. */
const PERIODS = {
  daily: ["1 day", 1],
  halfweekly: ["3 days", 3],
  weekly: ["1 week", 7],
  monthly: ["1 month", 30],
  quarterly: ["3 months", 91],
  semiyearly: ["6 months", 182],
  yearly: ["1 year", 365],
} as const satisfies Record<string, readonly [words: string, days: number]>;

type Period = keyof typeof PERIODS;

/** The pages about what happens in a repository, and about who writes it. */
export const activity = new Hono<WebEnv>();

activity.get("/:owner/:repo/activity/contributors", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { repo } = page;
  const { commits, accounts } = await readAuthors(page, undefined, AUTHORS_MAX, undefined);
  return renderActivity(
    c,
    page,
    "Contributors",
    commits && commits.total > 0 ? (
      <Contributors page={page} commits={commits} accounts={accounts} />
    ) : (
      <p>{`${repo.row.defaultBranch} has no commits yet.`}</p>
    ),
  );
});

activity.get("/:owner/:repo/activity", (c) => showPulse(c, "weekly"));
activity.get("/:owner/:repo/activity/:period", (c) => {
  const period = c.req.param("period");
  return showPulse(c, Object.hasOwn(PERIODS, period) ? (period as Period) : "weekly");
});

async function showPulse(c: Context<WebEnv>, period: Period): Promise<Response> {
  const page = await enterRepositoryPage(c, { mode: "read" });
  const { ctx, repo } = page;
  const [, days] = PERIODS[period];
  // The beginning of a day, so that what is counted for one request serves others.
  const since = (Math.floor(ctx.now / DAY_MS) - days) * DAY_MS;
  const { commits, accounts, pulse } = await readAuthors(page, since, TOP_AUTHORS_MAX, () =>
    readPulse(ctx, repo, since),
  );
  const path = repositoryPath(repo);
  const numbered = (kind: "pulls" | "issues") => (name: string) => `${path}/${kind}/${name}`;
  const parts = [
    ["pull", "pull request", "merged", pulse?.mergedPulls, numbered("pulls")],
    ["pull", "pull request", "proposed", pulse?.proposedPulls, numbered("pulls")],
    ["issue", "issue", "closed", pulse?.closedIssues, numbered("issues")],
    ["issue", "issue", "opened", pulse?.openedIssues, numbered("issues")],
    [
      "tag",
      "release",
      "published",
      pulse?.releases,
      (name: string) => `${path}/releases/tag/${encodePath(name)}`,
    ],
  ] as const;
  return renderActivity(
    c,
    page,
    "Activity",
    <>
      <div class="code-bar">
        <h2>{`Since ${formatTime(since).slice(0, 10)}`}</h2>
        <details class="menu end">
          <summary class="button">{`Period: ${PERIODS[period][0]}`}</summary>
          <ul class="menu-body">
            {Object.entries(PERIODS).map(([name, [words]]) => (
              <li>
                <a
                  href={`${path}/activity/${name}`}
                  aria-current={name === period ? "page" : undefined}
                >
                  {words}
                </a>
              </li>
            ))}
          </ul>
        </details>
      </div>
      {commits ? <Commits page={page} commits={commits} accounts={accounts} /> : undefined}
      {parts.map(([icon, noun, verb, part, hrefOf]) =>
        part ? (
          <Part icon={icon} noun={noun} verb={verb} part={part} hrefOf={hrefOf} now={ctx.now} />
        ) : undefined,
      )}
    </>,
  );
}

/**
 * Counts the authors of the default branch, and finds the accounts of the first ones; undefined for
 * readers who may not read the code, and without that branch.
 *
 * @param since Leaves out earlier commits, in milliseconds.
 * @param max   Authors whose accounts are found.
 * @param read  Asks the database in the same round trip.
 */
async function readAuthors<T>(
  { ctx, repo }: EnteredRepository,
  since: number | undefined,
  max: number,
  read: (() => Promise<T>) | undefined,
): Promise<{
  commits: AuthorCounts | undefined;
  accounts: ReadonlyMap<string, User>;
  pulse: T | undefined;
}> {
  const commits = isAllowed(repo, READ_CODE)
    ? await readSnapshot(ctx, repo, async (snapshot) => {
        if (!hasRefs(snapshot.state)) return undefined;
        const revision = await findContentRevision(snapshot, repo, "");
        if (!revision) return undefined;
        const seconds = since === undefined ? undefined : since / 1000;
        return countAuthors(snapshot.repository, revision.node, seconds);
      })
    : undefined;
  const addresses = (commits?.authors ?? []).slice(0, max).map(({ email }) => email);
  const [accounts, pulse] = await Promise.all([
    addresses.length > 0 ? findByAddresses(ctx, addresses) : new Map<string, User>(),
    read?.(),
  ]);
  return { commits, accounts, pulse };
}

/** Sends a page of the activity, below the links to all of them. */
function renderActivity(
  c: Context<WebEnv>,
  page: EnteredRepository,
  title: "Activity" | "Contributors",
  body: Child,
): Response | Promise<Response> {
  const { repo } = page;
  const path = `${repositoryPath(repo)}/activity`;
  const links = [
    ["Activity", "Pulse", path],
    ["Contributors", "Contributors", `${path}/contributors`],
  ] as const;
  return renderRepository(
    c,
    page,
    { tab: "activity", title: `${title} - ${repo.owner.name}/${repo.row.name}` },
    <>
      {isAllowed(repo, READ_CODE) ? (
        <div class="code-bar">
          <nav class="choice" aria-label="Activity">
            {links.map(([name, label, href]) => (
              <a href={href} aria-current={name === title ? "page" : undefined}>
                {label}
              </a>
            ))}
          </nav>
        </div>
      ) : undefined}
      {body}
    </>,
  );
}

interface CommitsProps {
  page: EnteredRepository;
  commits: AuthorCounts;
  accounts: ReadonlyMap<string, User>;
}

/** The commits of a period, and who wrote the most of them. */
function Commits({ page: { repo }, commits, accounts }: CommitsProps) {
  const { authors, total } = commits;
  const { defaultBranch } = repo.row;
  const top = authors.slice(0, TOP_AUTHORS_MAX);
  const scale = scaleOf(top);
  if (!scale) return <p>{`No commits on ${defaultBranch} in this time.`}</p>;
  return (
    <section aria-label="Commits">
      <p>
        <strong>{`${authors.length} author${authors.length === 1 ? "" : "s"}`}</strong>
        {" wrote "}
        <a href={sourcePath(repo, "commits", { kind: "branch", name: defaultBranch })}>
          <Count of={total} />
          {` commit${total === 1 ? "" : "s"}`}
        </a>
        {` on ${defaultBranch}, without merges.`}
      </p>
      <Unfinished commits={commits} />
      <AuthorList authors={top} accounts={accounts} scale={scale} />
    </section>
  );
}

/** Says which commits are not counted yet. */
function Unfinished({ commits: { isCut, firstSeconds } }: Pick<CommitsProps, "commits">) {
  if (!isCut) return <></>;
  return (
    <p class="notice">
      {"Commits are still being counted"}
      {firstSeconds === undefined ? undefined : (
        <>
          {", back to "}
          <Time at={firstSeconds * 1000} />
        </>
      )}
      {". "}
      <a href="">Look again</a>
    </p>
  );
}

/** Who wrote a repository, and when. */
function Contributors({ page: { repo }, commits, accounts }: CommitsProps) {
  const { authors, total } = commits;
  const shown = authors.slice(0, AUTHORS_MAX);
  const weeks = authors.flatMap((author) => author.weeks);
  const all = scaleOf([{ weeks }]);
  const each = scaleOf(shown);
  return (
    <>
      <h2>{`Commits on ${repo.row.defaultBranch}`}</h2>
      <Unfinished commits={commits} />
      <section class="box">
        <div class="inside">
          <Count of={total} />
          {` commit${total === 1 ? "" : "s"} of `}
          <Count of={authors.length} />
          {` author${authors.length === 1 ? "" : "s"}, without merges`}
          {all ? <CommitColumns weeks={weeks} scale={all} /> : undefined}
          <div class="soft">{spanOf(weeks)}</div>
        </div>
      </section>
      {each ? <AuthorList authors={shown} accounts={accounts} scale={each} /> : undefined}
      {authors.length > AUTHORS_MAX ? (
        <p class="soft">{`These are the ${AUTHORS_MAX} authors with the most commits.`}</p>
      ) : undefined}
    </>
  );
}

interface PartProps {
  icon: string;
  noun: string;
  /** What happened to it, in the past tense. */
  verb: string;
  part: PulsePart;
  /** The path of an item by its name. */
  hrefOf: (name: string) => string;
  now: number;
}

/** One kind of events of a period. */
function Part({ icon, noun, verb, part: { items, total, isCut }, hrefOf, now }: PartProps) {
  const count = `${total}${isCut ? " or more" : ""}`;
  const title = `${count} ${noun}${total === 1 && !isCut ? "" : "s"} ${verb}`;
  if (total === 0) return <p class="soft">{`No ${noun}s ${verb}`}</p>;
  return (
    <section class="box" aria-label={`${noun}s ${verb}`}>
      <h3 class="box-head">{title}</h3>
      <ul class="commits">
        {items.map(({ title: itemTitle, name, at, user }) => (
          <li>
            <div class="grow">
              <Icon name={icon} />
              <a href={hrefOf(name)}>{itemTitle || name}</a>{" "}
              <span class="soft">
                {icon === "tag" ? name : `#${name}`}
                {" by "}
                {user ? <a href={accountPath(user)}>{user.name}</a> : "Ghost"}
              </span>
            </div>
            <span class="soft">
              <Ago at={at} now={now} />
            </span>
          </li>
        ))}
        {total > items.length ? (
          <li class="soft">{`and ${total - items.length} more`}</li>
        ) : undefined}
      </ul>
    </section>
  );
}
