/**
 * `npm run bench:pull-refs`: what the refs of very many pull requests (`refs/pull/N/head`) cost
 * requests that don't need them, and those that do.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. The refs are written
 * into the repository's object directly, while the service is stopped. bench/README.md explains the
 * numbers.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { type ContentForge, openContentForge } from "./content/forge.ts";
import { middle } from "./content/measure.ts";
import { git, stopGit } from "./git/git.ts";
import { pushCommit } from "./pulls/push.ts";
import { describeMachine } from "./support/machine.ts";
import { numberOption, refusingUnknown } from "./support/options.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { formatCells, formatInteger } from "./support/table.ts";

const BRANCH = "main";
/** The commits of the repository; the refs of pull requests are spread over them. */
const COMMITS = 1000;

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { runs, counts } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  await track({ close: stopGit });
  const bare = join(directory, "bare.git");
  await git(directory, ["init", "--quiet", "--bare", `--initial-branch=${BRANCH}`, bare]);
  await git(bare, ["fast-import", "--quiet", "--done"], [...history()]);
  const data = join(directory, "data");
  const forge = await track(openContentForge(data, BRANCH));
  const { url, options } = forge.git();
  await git(bare, [...options, "push", "--quiet", url, BRANCH, "pulled"]);
  const pulled = await git(bare, ["rev-parse", "pulled"]);
  await git(bare, [...options, "push", "--quiet", url, ":pulled"]);
  const oids = (await git(bare, ["rev-list", BRANCH])).split("\n");

  const results: number[][] = [];
  for (const count of counts) {
    await forge.restartCold(() => writeRefs(data, count, [pulled, ...oids]));
    const cases = casesOf(forge, bare, oids.at(-1) ?? "", pulled);
    const seconds: number[] = [];
    for (const [, run] of cases) {
      await run(0);
      const all: number[] = [];
      for (let at = 1; at <= runs; at++) all.push(await run(at));
      seconds.push(middle(all));
    }
    results.push(seconds);
    console.log(`measured: ${formatInteger(count)} refs`);
  }
  const { length } = results[0] ?? [];
  const names = casesOf(forge, bare, "", "").map(([name]) => name);
  const rows = Array.from({ length }, (_, at) => [
    names[at] ?? "",
    ...results.map((seconds) => ((seconds[at] ?? 0) * 1000).toFixed(1)),
  ]);
  const columns = counts.map((count) => `${formatInteger(count)} refs, ms`);
  console.log(`\n${formatCells(["case", ...columns], rows)}`);
}

function parseOptions(args: string[]): { runs: number; counts: number[] } {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        runs: { type: "string", default: "9" },
        refs: { type: "string", default: "0,10000,100000" },
      },
    });
    const counts = values.refs.split(",").map((each) => numberOption("--refs", each, 0, 1_000_000));
    return { runs: Math.round(numberOption("--runs", values.runs, 1, 1000)), counts };
  });
}

/** The history of `main`, and a commit upon it that will have no branch. */
function* history(): Generator<string> {
  const commit = (ref: string, at: number, from: string) =>
    `commit refs/heads/${ref}\ncommitter C <c@example.com> ${1_700_000_000 + at} +0000\n` +
    `data 7\nchange\n${from}M 100644 inline file\ndata 6\n${String(at).padStart(5, "0")}\n`;
  for (let at = 1; at <= COMMITS; at++) yield commit(BRANCH, at, "");
  yield commit("pulled", COMMITS + 1, `from refs/heads/${BRANCH}\n`);
  yield "done\n";
}

/**
 * Stores the refs of so many pull requests in the object of the repository. The service must be
 * stopped.
 */
function writeRefs(data: string, count: number, oids: readonly string[]): void {
  for (const path of globSync("**/*.sqlite", { cwd: data })) {
    const database = new DatabaseSync(join(data, path));
    const isObject = database
      .prepare("select 1 from sqlite_master where name = 'refs' and type = 'table'")
      .get();
    if (isObject) {
      database.exec("begin; delete from refs where name glob 'refs/pull/*'");
      const insert = database.prepare("insert into refs (name, oid) values (?, ?)");
      for (let number = 1; number <= count; number++) {
        insert.run(`refs/pull/${number}/head`, oids[(number - 1) % oids.length] ?? "");
      }
      database.exec("commit");
    }
    database.close();
  }
}

type Run = (at: number) => Promise<number>;

/**
 * @param old A commit that the branch reaches. @param pulled One that only the ref of a pull
 *   request reaches.
 */
function casesOf(
  forge: ContentForge,
  bare: string,
  old: string,
  pulled: string,
): (readonly [string, Run])[] {
  const ask =
    (path: string, status = 200): Run =>
    async () =>
      (await forge.ask({ path, status })).seconds;
  const list: Run = async () => {
    const { url, options } = forge.git();
    const from = performance.now();
    await git(bare, [...options, "ls-remote", "--quiet", url]);
    return (performance.now() - from) / 1000;
  };
  const fetch =
    (ref: string): Run =>
    async () => {
      const { url, options } = forge.git();
      const from = performance.now();
      await git(bare, [...options, "fetch", "--quiet", url, ref]);
      return (performance.now() - from) / 1000;
    };
  return [
    ["contents of a branch", ask(`/contents/file?ref=${BRANCH}`)],
    ["branches", ask("/branches")],
    ["a commit of a branch, by id", ask(`/git/commits/${old}`)],
    // Without any such ref it is not found.
    ["a commit of a pull request only, by id", askAny(forge, `/git/commits/${pulled}`)],
    ["fetch of a branch", fetch(BRANCH)],
    ["push of a commit", (at) => pushCommit(forge, bare, BRANCH, at)],
    // Without any such ref it fails.
    ["fetch of a pull request", (at) => fetch("refs/pull/1/head")(at).catch(() => 0)],
    ["ls-remote", list],
  ];
}

/** Asks for what is found or not. */
function askAny(forge: ContentForge, path: string): Run {
  return async () => {
    try {
      return (await forge.ask({ path })).seconds;
    } catch {
      return (await forge.ask({ path, status: 404 })).seconds;
    }
  };
}
