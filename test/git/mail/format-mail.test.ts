import { join } from "node:path";
import { expect, it } from "vitest";
import { abbreviate } from "../../../src/git/abbreviation.ts";
import { UNLIMITED } from "../../../src/git/budget.ts";
import type { ByteText } from "../../../src/git/byte-text.ts";
import { findRenames } from "../../../src/git/diff/renames.ts";
import { diffTrees } from "../../../src/git/diff/tree-diff.ts";
import { formatChanges } from "../../../src/git/mail/format-changes.ts";
import { formatMail } from "../../../src/git/mail/format-mail.ts";
import { type Commit, parseCommit } from "../../../src/git/object/commit.ts";
import { toUtf8 } from "../../../src/git/object/reencode.ts";
import { EMPTY_TREE_OID } from "../../../src/git/oid.ts";
import { compressor } from "../../../src/storage/compressor.ts";
import { git, gitBytes, makeDirectory } from "../support/git.ts";
import { openHistory, type StoredHistory } from "../support/history.ts";
import { makeRandom } from "../support/random.ts";
import { makeMailedHistory } from "./histories.ts";

const SIGNATURE = "a signature" as ByteText;

async function readCommit({ objects }: StoredHistory, oid: string) {
  const found = await objects.readObject(oid);
  if (!found) throw new Error(`${oid} is not there`);
  return toUtf8(parseCommit(found.content));
}

/** Returns the mail of a commit, "" for a commit without changes. */
async function mailOf(history: StoredHistory, oid: string): Promise<string> {
  const { objects, catalog } = history;
  const commit = await readCommit(history, oid);
  const [parent] = commit.parentOids;
  const old = parent === undefined ? undefined : (await readCommit(history, parent)).treeOid;
  const found = await diffTrees(objects, old, commit.treeOid, { changesMax: 1000 });
  if (found.length === 0) return "";
  const formatted = await formatChanges(objects, await findRenames(objects, found), {
    compressor,
    abbreviate: (each) => abbreviate(catalog, each),
    contentBytesMax: 1_000_000,
    patchBytesMax: 1_000_000,
    budget: UNLIMITED,
  });
  return formatMail({
    commitOid: oid,
    commit,
    number: 1,
    total: 1,
    ...formatted,
    signature: SIGNATURE,
  });
}

/** Removes the data of binary patches, which depends on the compressor: git uses its own zlib. */
const withoutData = (mail: string): string =>
  mail.replaceAll(/^(?:literal|delta) \d+\n(?:[A-Za-z][^\n]+\n)*/gm, "data\n");

const mailed = makeMailedHistory(makeRandom(21), 150);
const { repository } = mailed;
const history = await openHistory(repository);
/** Ids of all commits except merges, with the parent's id; "" for a root commit. */
const commits = git(repository, ["rev-list", "--no-walk=unsorted", "--parents", ...mailed.oids])
  .split("\n")
  .map((line) => line.split(" "))
  .filter(({ length }) => length < 3)
  .map(([oid = "", parent = ""]) => ({ oid, parent }));

it("formats a mail like git, byte for byte except for compressed data", async () => {
  expect(commits.length).toBeGreaterThan(90);
  for (const { oid } of commits) {
    const args = ["format-patch", "--stdout", "-1", `--signature=${SIGNATURE}`, oid];
    const theirs = gitBytes(repository, args).toString("latin1");
    expect([oid, withoutData(await mailOf(history, oid))]).toEqual([oid, withoutData(theirs)]);
  }
});

it("formats binary patches that git applies forwards and in reverse", async () => {
  const index = { GIT_INDEX_FILE: join(makeDirectory(), "index") };
  const run = (args: readonly string[], input = ""): string =>
    git(repository, args, { env: index, input: Buffer.from(input, "latin1") });
  let binary = 0;
  for (const { oid, parent } of commits) {
    const mail = await mailOf(history, oid);
    if (!mail.includes("\nGIT binary patch\n")) continue;
    if (++binary > 12) break;
    run(["read-tree", ...(parent === "" ? ["--empty"] : [parent])]);
    run(["apply", "--cached", "--whitespace=nowarn"], mail);
    expect(run(["write-tree"])).toBe(run(["rev-parse", `${oid}^{tree}`]));
    run(["apply", "--cached", "--whitespace=nowarn", "-R"], mail);
    expect(run(["write-tree"])).toBe(
      parent === "" ? EMPTY_TREE_OID : run(["rev-parse", `${parent}^{tree}`]),
    );
  }
  expect(binary).toBeGreaterThan(5);
});

it("numbers the mails of a series", () => {
  const commit = makeCommit("a subject\n\nand words\n");
  const none = "" as ByteText;
  const mail = { commitOid: "1".repeat(40), commit, stat: none, patch: none, signature: SIGNATURE };
  const subject = (number: number, total: number): string =>
    /^Subject: .*$/m.exec(formatMail({ ...mail, number, total }))?.[0] ?? "";
  expect(subject(1, 1)).toBe("Subject: [PATCH] a subject");
  expect(subject(3, 12)).toBe("Subject: [PATCH 03/12] a subject");
});

function makeCommit(message: string): Commit {
  const who = "A <a@example.com> 1700000000 +0000";
  return parseCommit(
    Buffer.from(`tree ${EMPTY_TREE_OID}\nauthor ${who}\ncommitter ${who}\n\n${message}`),
  );
}

it("refuses contents and patches over their size limits", async () => {
  const { oid, parent } = commits.at(-1) ?? { oid: "", parent: "" };
  const changes = await diffTrees(
    history.objects,
    (await readCommit(history, parent)).treeOid,
    (await readCommit(history, oid)).treeOid,
    { changesMax: 1000 },
  );
  const options = {
    compressor,
    abbreviate: (each: string) => each,
    contentBytesMax: 1e6,
    budget: UNLIMITED,
  };
  for (const limit of [{ contentBytesMax: 1, patchBytesMax: 1e6 }, { patchBytesMax: 10 }]) {
    await expect(
      formatChanges(history.objects, changes, { ...options, ...limit }),
    ).rejects.toMatchObject({ code: "limit" });
  }
});
