import { git } from "../git/git.ts";

/** Commits of the pull request with many commits, and the files that each of them edits. */
const MANY_COMMITS = 200;
const FILES_PER_COMMIT = 3;

/** How far behind the tip of the base the heads begin, in commits. */
const BEHIND = 50;

/** Files edited one after the other are this far apart: a prime, so that each has its turn. */
const STRIDE = 7919;

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
  // Files that the base did not change since, so that no merge has a conflict.
  const filesAt = async (revision: string): Promise<string[]> =>
    (await git(path, ["ls-tree", "-r", revision])).split("\n");
  const kept = new Set(await filesAt(base));
  const names = (await filesAt(from)).flatMap((line) => {
    const [about = "", name = ""] = line.split("\t");
    return about.startsWith("100") && /^[\w./-]+$/.test(name) && kept.has(line) ? [name] : [];
  });
  // Each half for one kind of heads, so that merging some does not get in the way of the others.
  const [left, right] = [0, 1].map((half) => names.filter((_, at) => at % 2 === half));
  const pick = (from: string[] | undefined, at: number): string =>
    from?.[(at * STRIDE) % from.length] ?? "";
  const texts = new Map<string, string>();
  const pieces: string[] = [];
  /** Adds a commit that adds a line to each of some files. */
  const commit = async (branch: string, at: number, edited: string[]): Promise<void> => {
    const message = `Edit ${at}\n`;
    pieces.push(
      `commit refs/heads/${branch}\n`,
      `committer C O Mitter <committer@example.com> ${1_750_000_000 + at} +0000\n`,
      `data ${message.length}\n${message}`,
      ...(texts.size === 0 ? [`from ${from}\n`] : []),
    );
    for (const name of edited) {
      const old = texts.get(name) ?? (await git(path, ["show", `${from}:${name}`]));
      const text = `${old}\nOne line more: ${at}.\n`;
      texts.set(name, text);
      pieces.push(`M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
    }
  };
  for (let number = 0; number < ones; number++) {
    await commit(headOf.one(number), number, [pick(left, number)]);
    texts.clear();
  }
  for (let at = 0; at < MANY_COMMITS; at++) {
    const first = at * FILES_PER_COMMIT;
    const edited = Array.from({ length: FILES_PER_COMMIT }, (_, each) => pick(right, first + each));
    await commit(headOf.many, at, edited);
  }
  await git(path, ["fast-import", "--quiet", "--done"], [...pieces, "done\n"]);
}
