import { beforeAll, describe, expect, it } from "vitest";

import { encodeText, encodeUtf8 } from "../../src/git/byte-text.ts";
import { formatTree, MODE_FILE, MODE_TREE, type TreeEntry } from "../../src/git/object/tree.ts";
import { OID_BYTES, oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";
import { RESULT_STEPS_MAX } from "../../src/storage/result-cache.ts";
import { call } from "../support/call.ts";
import { make } from "../support/make.ts";
import { storePush } from "../support/push.ts";
import { logged } from "../support/usage.ts";

/**
 * Entries of a directory, and commits that each change it: reading them all takes more than one
 * budget.
 */
const ENTRIES = 40_000;
const COMMITS = 75;

/**
 * A public repository whose directory `wide` has 40,000 files, one of which each commit changes.
 * Below it, `sub/old` is as the first commit made it, and `sub/new` as the last one did.
 */
async function makeWide() {
  const repo = await make.repo(await make.user());
  const builder = new PackBuilder(codec);
  const [before = "", after = ""] = ["a", "b"].map((text) => builder.add("blob", encodeUtf8(text)));
  const entry = (mode: number, name: string, oid: string): TreeEntry => ({
    mode,
    name: encodeText(name),
    oid,
  });
  const subOf = (oid: string): string =>
    builder.add(
      "tree",
      formatTree([entry(MODE_FILE, "new", oid), entry(MODE_FILE, "old", before)]),
    );
  const files = Array.from({ length: ENTRIES }, (_, at) =>
    entry(MODE_FILE, `${100_000 + at}`, before),
  );
  const content = formatTree([...files, entry(MODE_TREE, "sub", subOf(before))]);
  const entryBytes = "100644 100000\0".length + OID_BYTES;
  const oids: string[] = [];
  for (let at = 0; at < COMMITS; at++) {
    content.set(oidBytes(after), (at + 1) * entryBytes - OID_BYTES);
    if (at === COMMITS - 1) content.set(oidBytes(subOf(after)), content.length - OID_BYTES);
    const oid = builder.add(
      "tree",
      formatTree([entry(MODE_TREE, "wide", builder.add("tree", content.slice()))]),
    );
    const parent = at === 0 ? "" : `parent ${oids[at - 1]}\n`;
    const who = `A <a@example.com> ${1_700_000_000 + at} +0000`;
    const text = `tree ${oid}\n${parent}author ${who}\ncommitter ${who}\n\nchange ${at}\n`;
    oids.push(builder.add("commit", encodeUtf8(text)));
  }
  const [first = "", last = ""] = [oids[0], oids.at(-1)];
  await storePush(repo, "refs/heads/main", last, builder.build());
  return { path: `/repos/${repo.owner}/${repo.name}`, first, last };
}

let wide: Awaited<ReturnType<typeof makeWide>>;
beforeAll(async () => {
  wide = await makeWide();
}, 60_000);

const WARNING = "X-Gitea-Warning";

/** Sends a request until its answer is complete, and returns all answers. */
async function untilComplete(path: string) {
  const answers = [];
  for (let times = 0; times < 10; times++) {
    const { answer, line } = await logged(() => call("GET", wide.path + path));
    expect(answer.status).toBe(200);
    // One budget a request, beside what the answer itself reads.
    expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
    answers.push(answer);
    if (!answer.headers.has(WARNING)) break;
  }
  return answers;
}

describe("a history of directories that are slow to read", () => {
  const shasOf = (body: { sha: string }[]): string[] => body.map(({ sha }) => sha);

  it("of a path is incomplete with a warning, and continued by the next requests", async () => {
    const answers = await untilComplete("/commits?path=wide/sub/new&stat=false");
    const warnings = answers.map(({ headers }) => headers.get(WARNING));
    const incomplete = "too much work, incomplete: path history";
    expect(warnings).toEqual([incomplete, null]);
    expect(shasOf(answers[0]?.body)).toEqual([wide.last]);
    expect(answers[0]?.headers.get("X-Total-Count")).toBe("1");
    expect(shasOf(answers[1]?.body)).toEqual([wide.last, wide.first]);
    expect(answers[1]?.headers.get("X-Total-Count")).toBe("2");

    // What is complete is found in the cache.
    const again = await logged(() =>
      call("GET", `${wide.path}/commits?path=wide/sub/new&stat=false`),
    );
    expect(again.line.steps).toBeLessThan(100_000);
  });

  it("leaves out last commits of a directory with a warning, until later requests find them", async () => {
    const answers = await untilComplete("/contents-ext/wide/sub?includes=commit_metadata");
    const warnings = answers.map(({ headers }) => headers.get(WARNING));
    const incomplete = "too much work, incomplete: last commits";
    expect(warnings).toEqual([incomplete, null]);
    const lastsOf = (at: number) =>
      answers[at]?.body.dir_contents.map((entry: { name: string; last_commit_sha?: string }) => [
        entry.name,
        entry.last_commit_sha,
      ]);
    expect(lastsOf(0)).toEqual([
      ["new", wide.last],
      ["old", undefined],
    ]);
    expect(lastsOf(1)).toEqual([
      ["new", wide.last],
      ["old", wide.first],
    ]);
  });

  it("leaves out last commits of paths with a warning, until later requests find them", async () => {
    const body = encodeURIComponent(JSON.stringify({ files: ["wide/sub/new", "wide/sub/old"] }));
    const answers = await untilComplete(`/file-contents?body=${body}`);
    const warnings = answers.map(({ headers }) => headers.get(WARNING));
    const incomplete = "too much work, incomplete: last commits of paths";
    expect(warnings).toEqual([incomplete, null]);
    const lastsOf = (at: number) =>
      answers[at]?.body.map((file: { last_commit_sha?: string }) => file.last_commit_sha);
    expect(lastsOf(0)).toEqual([wide.last, undefined]);
    expect(lastsOf(1)).toEqual([wide.last, wide.first]);
  });

  it("is refused in a range, where each commit may still turn out to be excluded", async () => {
    const { path, first } = wide;
    const query = `path=wide/sub/old&stat=false&not=${first}`;
    const { answer, line } = await logged(() => call("GET", `${path}/commits?${query}`));
    expect(answer.status).toBe(413);
    expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
  });
});
