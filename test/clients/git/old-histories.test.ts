import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";

import { expect, it } from "vitest";

import { DEFAULT_SEVERITIES } from "../../../src/git/object/finding.ts";
import { ODD_HISTORIES } from "../../support/odd-histories.ts";
import { admin, callApi, makeRepo, type Repo, serviceUrl } from "../support/forge.ts";
import { ENVIRONMENT, git, makeDirectory, tryGit } from "../support/git.ts";
import { importPack, makeOldHistory, ODD_ZONES, PADDED_MODES } from "../support/old-history.ts";

/** What git fsck reports with its defaults. The order is that of objects in packs. */
const fsck = async (directory: string): Promise<string[]> => {
  const { output } = await tryGit(directory, ["fsck", "--full", "--no-dangling", "--no-progress"]);
  return output
    .split("\n")
    .filter((line) => !line.startsWith("notice: "))
    .toSorted();
};

const archive = (directory: string, revision: string, prefix: string): Buffer =>
  execFileSync("git", ["archive", "--format=tar", `--prefix=${prefix}/`, revision], {
    cwd: directory,
    env: ENVIRONMENT,
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "pipe"],
  });

async function download(repo: Repo, revision: string): Promise<Buffer> {
  const url = `${serviceUrl}/${repo.owner}/${repo.name}/archive/${revision}.tar.gz`;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return gunzipSync(Buffer.from(await answer.arrayBuffer()));
}

/** Mirrors `directory` to a new repository and back. The output is that of the push. */
async function roundTrip(directory: string): Promise<{ repo: Repo; copy: string; output: string }> {
  const repo = await makeRepo();
  const { code, output } = await tryGit(directory, ["push", "--mirror", repo.ownUrl]);
  expect([code, output]).toEqual([0, expect.stringContaining("[new branch]")]);
  const copy = makeDirectory();
  await git(copy, ["clone", "--quiet", "--mirror", repo.url, "."]);
  const refs = (of: string) => git(of, ["for-each-ref"]);
  expect(await refs(copy)).toBe(await refs(directory));
  expect(await fsck(copy)).toEqual(await fsck(directory));
  return { repo, copy, output };
}

/**
 * Every commit of a branch by the API, newest first, as
 * `<oid> <author's name>|<address>|<seconds>`.
 */
async function listByApi(repo: Repo, branch: string): Promise<string[]> {
  const lines: string[] = [];
  for (let page = 1; ; page++) {
    const query = `sha=${branch}&limit=50&page=${page}&stat=false&verification=false&files=false`;
    const commits = await callApi<{ sha: string; commit: { author: Person } }[]>(
      admin,
      "GET",
      `${repo.path}/commits?${query}`,
    );
    if (commits.length === 0) return lines;
    for (const { sha, commit } of commits) {
      const { name, email, date } = commit.author;
      lines.push(`${sha} ${name}|${email}|${Date.parse(date) / 1000}`);
    }
  }
}
interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

const warnings = (output: string): string[] =>
  (output.match(/^remote: (?:warning|error): .*/gm) ?? []).map((line) =>
    line.trimEnd().replace(/[0-9a-f]{40}/, "<oid>"),
  );

it("a history with zones of six digits is pushed, cloned and read whole", async () => {
  const directory = await makeOldHistory(2000, ODD_ZONES);
  const { repo, copy, output } = await roundTrip(directory);
  expect(warnings(output)).toEqual([
    "remote: warning: commit <oid>: badTimezone: a time zone is not a sign and four digits (and 1 more)",
  ]);
  expect(output).toMatch(/^remote: See http:\S+\/-\/docs\/object-checks/m);
  expect((await fsck(copy)).filter((line) => line.includes("badTimezone"))).toHaveLength(2);

  const log = await git(copy, ["log", "--format=%H %an|%ae|%at", "main"]);
  expect(await listByApi(repo, "main")).toEqual(log.split("\n"));
  for (const revision of ["main", "v1024", "release-999"]) {
    const expected = archive(copy, revision, repo.name);
    expect([revision, (await download(repo, revision)).equals(expected)]).toEqual([revision, true]);
  }
}, 300_000);

it("a history with padded modes and missing names is pushed, cloned and read whole", async () => {
  const directory = await makeOldHistory(3000, PADDED_MODES);
  const { repo, copy, output } = await roundTrip(directory);
  const found = warnings(output).flatMap((line) => /<oid>: (\w+):/.exec(line)?.[1] ?? []);
  expect(found.toSorted()).toEqual([
    "badTimezone",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTaggerEntry",
    "zeroPaddedFilemode",
  ]);

  const revisions = await git(copy, ["rev-list", "main"]);
  const listed = await listByApi(repo, "main");
  expect(listed.map((line) => line.slice(0, 40))).toEqual(revisions.split("\n"));

  // A commit within the padded period, the one that starts it, and the one that ends it.
  const at = async (number: number): Promise<string> =>
    git(copy, ["log", "--all", "--format=%H", `--grep=^Change ${number}$`]);
  for (const oid of [await at(300), await at(201), await at(700)]) {
    const expected = archive(copy, oid, repo.name);
    expect([oid, (await download(repo, oid)).equals(expected)]).toEqual([oid, true]);
    const url = `${serviceUrl}/api/v1${repo.path}/git/commits/${oid}.diff`;
    const shown = await (await fetch(url)).text();
    expect(shown).toBe(`${await git(copy, ["diff", `${oid}^`, oid])}\n`);
  }

  // A later push of few commits, and shallow clones.
  const work = makeDirectory();
  await git(work, ["clone", "--quiet", repo.ownUrl, "."]);
  await git(work, ["commit", "--quiet", "--allow-empty", "-m", "more"]);
  expect((await tryGit(work, ["push", "origin", "main"])).output).not.toContain("warning");
  for (const option of ["--depth=30", "--shallow-since=2011-05-01", "--shallow-exclude=v1024"]) {
    const commitsOf = async (url: string): Promise<string> => {
      const shallow = makeDirectory();
      await git(shallow, ["clone", "--quiet", "--bare", option, url, "."]);
      return git(shallow, ["rev-list", "--all"]);
    };
    await git(copy, ["fetch", "--quiet"]);
    expect([option, await commitsOf(repo.url)]).toEqual([
      option,
      await commitsOf(`file://${copy}`),
    ]);
  }
}, 300_000);

/** Histories for which git's archives have another time. */
const OTHER_TIMES = [
  // Git adds 2^64 to it, and the service reads no time.
  "badDate: a negative date",
  // Git reads the time after the first bracket, and in later versions after the last one.
  "badName: a bracket",
  // Git reads the time of a committer only right after one author.
  "multipleAuthors: two",
];

const odd = ODD_HISTORIES.filter(({ id }) => DEFAULT_SEVERITIES[id] === "warn");

it("histories with every finding that is a warning are pushed, cloned and archived", async () => {
  const directory = await importPack(odd[0]?.pack ?? new Uint8Array(0), []);
  const refs: string[] = [];
  for (const [at, { pack, commitOids, refs: ownRefs }] of odd.entries()) {
    await git(directory, ["index-pack", "--stdin"], pack);
    refs.push(`create refs/heads/odd-${at} ${commitOids[2]}`);
    for (const { ref, oid } of ownRefs) {
      if (ref.startsWith("refs/tags/")) refs.push(`create refs/tags/odd-${at} ${oid}`);
    }
  }
  await git(directory, ["update-ref", "--stdin"], refs.map((line) => `${line}\n`).join(""));
  const { repo, copy, output } = await roundTrip(directory);
  expect(warnings(output)).toHaveLength(10);
  expect(output).toMatch(/^remote: and \d+ other findings/m);

  for (const option of ["--shallow-since=2015-01-01", "--shallow-since=1970-01-02", "--depth=2"]) {
    const shallow = makeDirectory();
    await git(shallow, ["clone", "--quiet", "--mirror", option, repo.url, "."]);
    expect(await git(shallow, ["rev-list", "--all", "--objects"])).not.toBe("");
  }

  const different: string[] = [];
  for (const { name, commitOids } of odd) {
    const [, oid] = commitOids;
    const expected = archive(copy, oid, repo.name);
    if (!(await download(repo, oid)).equals(expected)) different.push(name);
  }
  expect(different).toEqual(OTHER_TIMES);
}, 300_000);
