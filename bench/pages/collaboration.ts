import { git } from "../git/git.ts";

/** Issues and pull requests of both sides, by their numbers, which count from 1. */
export const DISCUSSED_ISSUE = 1;
export const REVIEWED_PULL = 2;
const ISSUES = 60;
const PULLS = 30;
const COMMENTS = 100;
const CHANGED_FILES = 100;
const LINE_COMMENTS = 20;

/** Of the large repository of the service alone. */
export const LONG_ISSUE = 1;
export const WIDE_PULL = 2;
const LONG_ISSUE_COMMENTS = 2000;
const WIDE_PULL_FILES = 1000;
const WIDE_PULL_COMMENTS = 500;

/** Comments of one review: both sides take them at once. */
const COMMENTS_AT_ONCE = 50;

/** A package that each side takes as a file. */
export const PACKAGE = "tool";
export const PACKAGE_VERSION = "1.0.0";

type Send = (method: string, path: string, json?: object) => Promise<unknown>;

const TEXT = `The build stops since \`v2\` on **every** machine, as in #1:

\`\`\`ts
const rows: number = readRows("loom.txt");
console.log(rows + 1);
\`\`\`

- [x] on Linux
- [ ] elsewhere, see <https://example.com/builds/17>

> It worked before.
`;

/** Pages of a wiki, besides its sidebar. */
export const WIKI_PAGE = "Home";
const WIKI_PAGES = Array.from({ length: 20 }, (_, at) => `Page ${at}`);
const WIKI_TEXT = Buffer.from(TEXT.repeat(10)).toString("base64");

/** A repository of a side, with a branch `main`. */
type Repository = {
  send: Send;
  owner: string;
  name: string;
  /** An empty bare repository, for the branches of the pull requests. */
  directory: string;
  /** The address to push to. */
  url: string;
};

const pathTo = ({ owner, name }: Repository): string => `/repos/${owner}/${name}`;

/** Lays issues, pull requests and notifications of the owner, and a wiki. */
export async function layCollaboration(repository: Repository): Promise<void> {
  const { send, owner } = repository;
  const path = pathTo(repository);
  for (const [at, name] of ["bug", "kind/feature", "help"].entries()) {
    await send("POST", `${path}/labels`, { name, color: `#${at}0a0f${at}` });
  }
  const labels = ["bug", "help"];
  await send("POST", `${path}/issues`, { title: "Discussed", body: TEXT });
  await pushFiles(repository, "reviewed", CHANGED_FILES);
  await openPull(send, path, "reviewed");
  await comment(send, path, DISCUSSED_ISSUE, COMMENTS);
  await comment(send, path, REVIEWED_PULL, COMMENTS / 5);
  await review(send, path, REVIEWED_PULL, { files: CHANGED_FILES, comments: LINE_COMMENTS });
  for (let at = 0; at < ISSUES; at += 1) {
    const body = `${TEXT}\n@${owner}`;
    const { number } = (await send("POST", `${path}/issues`, { title: `Issue ${at}`, body })) as {
      number: number;
    };
    await send("POST", `${path}/issues/${number}/labels`, { labels });
  }
  for (const title of [WIKI_PAGE, "_Sidebar", ...WIKI_PAGES]) {
    await send("POST", `${path}/wiki/new`, { title, content_base64: WIKI_TEXT });
  }
  for (let at = 0; at < PULLS; at += 1) {
    await pushFiles(repository, `change-${at}`, 1);
    await openPull(send, path, `change-${at}`);
  }
}

/** Lays an issue with very many comments, and a pull request of very many files and comments. */
export async function layLarge(repository: Repository): Promise<void> {
  const { send } = repository;
  const path = pathTo(repository);
  await send("POST", `${path}/issues`, { title: "Long", body: TEXT });
  await pushFiles(repository, "wide", WIDE_PULL_FILES);
  await openPull(send, path, "wide");
  await comment(send, path, LONG_ISSUE, LONG_ISSUE_COMMENTS);
  const counts = { files: WIDE_PULL_FILES, comments: WIDE_PULL_COMMENTS };
  await review(send, path, WIDE_PULL, counts);
}

const openPull = (send: Send, path: string, head: string): Promise<unknown> =>
  send("POST", `${path}/pulls`, { title: `Add ${head}`, head, base: "main", body: TEXT });

async function comment(send: Send, path: string, number: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await send("POST", `${path}/issues/${number}/comments`, { body: `${at}. ${TEXT}` });
  }
}

/** Comments on the third line of files, evenly spread. */
async function review(
  send: Send,
  path: string,
  number: number,
  { files, comments }: { files: number; comments: number },
): Promise<void> {
  const all = Array.from({ length: comments }, (_, at) => ({
    path: pathOf(Math.floor((at * files) / comments)),
    body: `${at}. ${TEXT}`,
    new_position: 3,
  }));
  for (let at = 0; at < all.length; at += COMMENTS_AT_ONCE) {
    await send("POST", `${path}/pulls/${number}/reviews`, {
      event: "COMMENT",
      body: "Some lines",
      comments: all.slice(at, at + COMMENTS_AT_ONCE),
    });
  }
}

const LINES = 20;

const pathOf = (at: number): string => `added/file-${String(at).padStart(4, "0")}.ts`;

/** Pushes a branch of `main` with a commit that adds files. */
async function pushFiles(
  { directory, url }: Repository,
  branch: string,
  count: number,
): Promise<void> {
  await git(directory, ["fetch", "--quiet", "--depth", "1", url, "main"]);
  const parent = await git(directory, ["rev-parse", "FETCH_HEAD"]);
  const message = `Add files of ${branch}\n`;
  const parts = [
    `commit refs/heads/${branch}\n`,
    "committer Jo Writer <jo@example.com> 1750000000 +0000\n",
    `data ${message.length}\n${message}`,
    `from ${parent}\n`,
  ];
  for (let at = 0; at < count; at += 1) {
    const text = Array.from(
      { length: LINES },
      (_, line) => `export const ${branch.replaceAll("-", "_")}_${line} = "${at}";\n`,
    ).join("");
    parts.push(`M 644 inline ${pathOf(at)}\ndata ${text.length}\n${text}\n`);
  }
  await git(directory, ["fast-import", "--quiet", "--force"], parts);
  await git(directory, ["push", "--quiet", url, branch]);
}
