import { describe, expect, it } from "vitest";

import { admin, callApi, makeRepo } from "../support/forge.ts";
import { clone, git, makeWork } from "../support/git.ts";

const REF = "refs/notes/commits";
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

describe("notes that are written through the API", () => {
  it("have the paths that git uses, and git can edit them", async () => {
    const work = await makeWork();
    const commits = Array.from({ length: 300 }, (_, at) => {
      const from = at === 0 ? "" : `from :${at}\n`;
      const who = `A <a@example.com> ${1_700_000_000 + at} +0000`;
      return `commit refs/heads/main\nmark :${at + 1}\ncommitter ${who}\ndata 1\nx\n${from}\n`;
    });
    await git(work, ["fast-import", "--quiet"], commits.join(""));
    const oids = lines(await git(work, ["rev-list", "main"]));
    const [first = "", ...others] = oids;
    const message = " some words  \n\n\n\nand more ✓";
    const byGit = (...some: string[]) =>
      git(work, ["notes", "copy", "--stdin"], some.map((oid) => `${first} ${oid}\n`).join(""));
    const treeOf = (directory: string) => git(directory, ["rev-parse", `${REF}^{tree}`]);

    const repo = await makeRepo();
    await git(work, ["notes", "add", "-m", message, first]);
    await byGit(...others.slice(0, 59));
    await git(work, ["push", "--quiet", repo.ownUrl, "main", REF]);
    const path = (oid: string) => `${repo.path}/git/notes/${oid}`;
    // The note at which git starts to use directories is among them.
    const added = others.slice(59, 109);
    for (const oid of added) await callApi(admin, "POST", path(oid), { message });
    await byGit(...added.slice(1));
    const [one = ""] = added;
    await git(work, ["notes", "add", "-m", message, one]);
    const after = await clone(repo.ownUrl);
    await git(after, ["fetch", "--quiet", "origin", `${REF}:${REF}`]);
    await git(after, ["fsck", "--strict", "--full"]);
    expect(await treeOf(after)).toBe(await treeOf(work));
    expect(lines(await git(after, ["ls-tree", "-d", REF])).length).toBeGreaterThan(20);
    expect(lines(await git(after, ["notes", "list"]))).toHaveLength(110);
    expect(await git(after, ["notes", "show", one])).toBe(await git(work, ["notes", "show", one]));
    const log = ["log", "-1", "--format=%B", REF];
    expect(await git(after, log)).toBe(await git(work, log));

    await git(work, ["fetch", "--quiet", repo.ownUrl, `+${REF}:${REF}`]);
    await byGit(...others.slice(109));
    await git(work, ["push", "--quiet", repo.ownUrl, REF]);
    for (const oid of oids.slice(0, 5)) await callApi(admin, "DELETE", path(oid));
    await git(work, ["notes", "remove", ...oids.slice(0, 5)]);
    const last = oids.at(-1) ?? "";
    await callApi(admin, "PATCH", path(last), { message: "other words" });
    await git(work, ["notes", "edit", "-m", "other words", last]);
    await git(after, ["fetch", "--quiet", "origin", `${REF}:${REF}`]);
    expect(await treeOf(after)).toBe(await treeOf(work));
    expect(await git(after, log)).toBe(await git(work, log));
    expect(lines(await git(after, ["notes", "list"]))).toHaveLength(295);
    await git(after, ["fsck", "--strict", "--full"]);
  });
});
