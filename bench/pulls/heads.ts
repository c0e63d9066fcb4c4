import { git } from "../git/git.ts";

/** Commits of the pull request with many commits, and the files that each of them edits. */
const MANY_COMMITS = 200;
const FILES_PER_COMMIT = 3;

/** How far behind the tip of the base the heads begin, in commits. */
const BEHIND = 50;

/** The branches that become heads of pull requests. */
export const headOf = {
  /** With one commit that edits a file of its own. */
  one: (number: number): string => `bench/one-${number}`,
  many: "bench/many",
};

/** Adds the heads to a bare repository: `ones` with one commit each, and one with many commits. */
export async function addHeads(path: string, base: string, ones: number): Promise<void> {
  const behind = Math.min(BEHIND, Number(await git(path, ["rev-list", "--count", base])) - 1);
  const from = await git(path, ["rev-parse", `${base}~${behind}`]);
  const listing = await git(path, ["ls-tree", "-r", "--name-only", from]);
  const kept = new Set((await git(path, ["ls-tree", "-r", "--name-only", base])).split("\n"));
  const names = listing.split("\n").filter((name) => /^[\w./-]+$/.test(name) && kept.has(name));
  const texts = new Map<string, string>();
  /** A file with one line more than it had, spread over the tree. */
  const edit = async (at: number): Promise<string> => {
    const name = names[(at * 7919) % names.length] ?? "";
    const text = `${texts.get(name) ?? (await git(path, ["show", `${from}:${name}`]))}\nOne line more: ${at}.\n`;
    texts.set(name, text);
    return `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  };
  const pieces: string[] = [];
  const commit = async (branch: string, at: number, first: boolean, edits: readonly number[]) => {
    const message = `Edit ${at}\n`;
    pieces.push(
      `commit refs/heads/${branch}\n`,
      `committer C O Mitter <committer@example.com> ${1_750_000_000 + at} +0000\n`,
      `data ${message.length}\n${message}`,
      ...(first ? [`from ${from}\n`] : []),
    );
    for (const each of edits) pieces.push(await edit(each));
  };
  for (let number = 0; number < ones; number++) {
    await commit(headOf.one(number), number, true, [number]);
    texts.clear();
  }
  for (let at = 0; at < MANY_COMMITS; at++) {
    const edits = Array.from(
      { length: FILES_PER_COMMIT },
      (_, each) => at * FILES_PER_COMMIT + each,
    );
    await commit(headOf.many, at, at === 0, edits);
  }
  await git(path, ["fast-import", "--quiet", "--done"], [...pieces, "done\n"]);
}
