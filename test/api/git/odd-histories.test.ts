import { beforeAll, describe, expect, it } from "vitest";

import { FINDING_IDS, FINDING_RULES } from "../../../src/git/object/finding.ts";
import { call, visit } from "../../support/call.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { ODD_HISTORIES, type OddHistory } from "../../support/odd-histories.ts";
import { pushCommands } from "../../support/push.ts";
import { doorsWith } from "../../support/service.ts";

/** Accepts everything that a setting can accept. */
const lenient = doorsWith({
  RECEIVE_FSCK: FINDING_IDS.filter((id) => FINDING_RULES[id].pushed !== "fatal")
    .map((id) => `${id}=warn`)
    .join(","),
});

const HISTORIES = ODD_HISTORIES.filter(({ id }) => FINDING_RULES[id].pushed !== "fatal");
const CASES = HISTORIES.map((history): [string, OddHistory] => [history.name, history]);

/** The branch of the history's last commit, and of the one with the finding. */
const branchOf = (history: OddHistory): string => `last-${HISTORIES.indexOf(history)}`;
const oddBranchOf = (history: OddHistory): string => `odd-${HISTORIES.indexOf(history)}`;

let owner: TestUser;
let repo: TestRepo;
let path: string;

// One repository holds all histories, so that lists meet all of them.
beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner);
  path = `/repos/${repo.owner}/${repo.name}`;
  for (const history of HISTORIES) {
    const commands = [
      { ref: `refs/heads/${branchOf(history)}`, new: history.commitOids[2] },
      { ref: `refs/heads/${oddBranchOf(history)}`, new: history.commitOids[1] },
    ];
    const tag = history.refs.find(({ ref }) => ref === "refs/tags/odd");
    if (tag) commands.push({ ref: `refs/tags/${branchOf(history)}`, new: tag.oid });
    const { body } = await pushCommands(owner, repo, commands, {
      pack: history.pack,
      visit: lenient,
    });
    if (!String(body).includes("unpack ok")) throw new Error(`${history.name}: ${body}`);
  }
}, 120_000);

/** Values of the fields that hold times, at any depth. */
function timesIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return /date$|created|timestamp|_at$/.test(name) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    timesIn(part, Array.isArray(value) ? name : key),
  );
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** What fails of some reads: an answer that is no success, or a time that is no time. */
async function faultsOf(reads: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const read of reads) {
    const { status, body } = await call("GET", read, { as: owner });
    if (status !== 200) faults.push(`${status} ${read}`);
    const odd = timesIn(body).filter((time) => !RFC_3339.test(time));
    faults.push(...odd.map((time) => `${time} in ${read}`));
  }
  return faults;
}

describe("a repository of histories with findings", () => {
  it("is listed in every way", async () => {
    const pages = (read: string): string[] =>
      [1, 2, 3].map((page) => `${read}limit=50&page=${page}`);
    const reads = [
      "",
      ...pages("/branches?"),
      ...pages("/tags?"),
      ...pages("/git/refs?"),
      ...pages("/activities/feeds?"),
      "/events?limit=50",
      "/languages",
    ].map((read) => `${path}${read}`);
    expect(await faultsOf([...reads, `/users/${owner.name}/heatmap`])).toEqual([]);
    for (const feed of ["rss", "atom"]) {
      const { status, body } = await visit("GET", `/${repo.owner}/${repo.name}.${feed}`);
      expect([feed, status]).toEqual([feed, 200]);
      expect(body).not.toMatch(/NaN|Invalid/);
    }
  });

  it.each(CASES)("is read in every way: %s", async (_, history) => {
    const [first, second, last] = history.commitOids;
    const branch = branchOf(history);
    const ofTag = [`${path}/tags/${branch}`, `${path}/git/tags/${history.oid}`];
    const reads = [
      `/commits?sha=${branch}&stat=true&verification=true&files=true`,
      `/commits?sha=${branch}&since=1970-01-02T00:00:00Z&until=2100-01-01T00:00:00Z`,
      `/git/commits/${second}`,
      `/git/commits/${second}.diff`,
      `/git/commits/${second}.patch`,
      `/compare/${first}...${last}`,
      `/branches/${branch}`,
      `/git/trees/${second}?recursive=true`,
      `/contents?ref=${second}`,
      `/contents-ext/a.txt?ref=${branch}&includes=file_content,commit_metadata,commit_message`,
    ].map((read) => `${path}${read}`);
    expect(await faultsOf([...reads, ...(history.kind === "tag" ? ofTag : [])])).toEqual([]);

    // An archive has no entry of such a name, whatever the setting.
    const expected = history.id === "largePathname" ? 413 : 200;
    for (const format of ["tar.gz", "zip", "bundle"]) {
      const archive = await visit("GET", `/${repo.owner}/${repo.name}/archive/${second}.${format}`);
      expect([format, archive.status]).toEqual([format, format === "bundle" ? 200 : expected]);
    }
  });

  it.each(CASES)("is changed, with a note on the commit: %s", async (_, history) => {
    const file = { content: "bmV3", message: "m", branch: oddBranchOf(history) };
    const added = await lenient("POST", `/api/v1${path}/contents/new.txt`, {
      as: owner,
      json: file,
    });
    expect([added.status, added.body.message]).toEqual([201, undefined]);
    expect(timesIn(added.body).filter((time) => !RFC_3339.test(time))).toEqual([]);
    // Histories with an odd tag have the same commits.
    if (history.kind === "tag") return;
    const note = `${path}/git/notes/${history.commitOids[1]}`;
    const noted = await call("POST", note, { as: owner, json: { message: "n" } });
    expect([200, 201]).toContain(noted.status);
    expect(await faultsOf([note, `${path}/commits?sha=${oddBranchOf(history)}`])).toEqual([]);
  });

  const AUTHOR = { name: "A U Thor", email: "author@example.com" };
  it.each([
    ["badDate: letters", { ...AUTHOR, date: "1970-01-01T00:00:00Z" }],
    ["badDate: a negative date", { ...AUTHOR, date: "1970-01-01T00:00:00Z" }],
    ["badDate: a fraction", { ...AUTHOR, date: "2009-02-13T23:31:30Z" }],
    ["badDateOverflow: beyond 64 bits", { ...AUTHOR, date: "1970-01-01T00:00:00Z" }],
    ["badTimezone: six digits", { ...AUTHOR, date: "2023-11-15T03:32:20+05:18" }],
    ["badTimezone: three digits", { ...AUTHOR, date: "2023-11-14T15:14:20-07:00" }],
    ["badTimezone: a name", { ...AUTHOR, date: "2023-11-14T22:14:20Z" }],
    ["zeroPaddedDate: one zero", { ...AUTHOR, date: "2023-11-14T22:14:20Z" }],
    ["missingSpaceBeforeDate: after the address", { ...AUTHOR, date: "2023-11-14T22:14:20Z" }],
    ["multipleAuthors: two", { ...AUTHOR, date: "2023-11-14T22:14:20Z" }],
    ["missingEmail: nothing", { name: "", email: "", date: "1970-01-01T00:00:00Z" }],
    ["missingAuthor: a committer alone", { name: "", email: "", date: "1970-01-01T00:00:00Z" }],
  ])("shows what can be read of an author: %s", async (name, author) => {
    const history = HISTORIES.find((each) => each.name === name);
    const { body } = await call("GET", `${path}/git/commits/${history?.commitOids[1]}`, {
      as: owner,
    });
    expect(body.commit.author).toEqual(author);
  });

  it("shows a message up to a NUL", async () => {
    const history = HISTORIES.find(({ id }) => id === "nulInCommit");
    const { body } = await call("GET", `${path}/git/commits/${history?.commitOids[1]}`, {
      as: owner,
    });
    expect(body.commit.message).toBe("m");
  });
});
