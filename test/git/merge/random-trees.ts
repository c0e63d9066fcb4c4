import type { Random } from "../support/random.ts";
import type { MadeFile, MadeTree } from "./histories.ts";

const DIRECTORIES = ["", "a/", "b/", "a/x/", "c/"];
const NAMES = ["f", "g", "h", "README", "main.c"];

/** A text of mostly unique lines, with some lines that occur in every text. */
function makeText(random: Random, lines: number): string {
  const own = random.below(10_000);
  return Array.from({ length: lines }, (_, line) =>
    random.below(5) === 0
      ? `${random.pick(["", "}", "  end", "common"])}\n`
      : `line ${line} of ${own}\n`,
  ).join("");
}

function editText(random: Random, text: string, times: number): string {
  const lines = text.split(/(?<=\n)/);
  for (let left = times; left > 0; left--) {
    const at = random.below(lines.length + 1);
    const fresh = Array.from({ length: random.below(3) }, () => `new ${random.below(6)}\n`);
    lines.splice(at, random.below(3), ...fresh);
  }
  return lines.join("");
}

function makeFile(random: Random): MadeFile {
  const dice = random.below(20);
  if (dice === 0) return { mode: "120000", content: `target${random.below(1000)}` };
  if (dice === 1) return { mode: "160000", content: `${random.below(9000) + 1000}`.repeat(10) };
  if (dice === 2) return { mode: "100644", content: `bin\0${random.below(10_000)}\n` };
  if (dice === 3) return { mode: "100644", content: "" };
  return {
    mode: random.below(8) === 0 ? "100755" : "100644",
    content: makeText(random, 6 + random.below(24)),
  };
}

const makePath = (random: Random): string => random.pick(DIRECTORIES) + random.pick(NAMES);

/**
 * Puts a file at a path and removes files in its way. No content occurs twice in a tree: which of
 * two equal files git takes as the source of a rename is not documented.
 */
function put(tree: Map<string, MadeFile>, path: string, file: MadeFile): void {
  const hasSame = [...tree.values()].some((other) => other.content === file.content);
  if (hasSame && file.content !== "") return;
  for (const other of tree.keys()) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  }
  tree.set(path, file);
}

export function makeTree(random: Random): MadeTree {
  const tree = new Map<string, MadeFile>();
  for (let left = 4 + random.below(8); left > 0; left--)
    put(tree, makePath(random), makeFile(random));
  return tree;
}

/** Changes a tree as a few typical commits would. */
export function changeTree(random: Random, from: MadeTree): MadeTree {
  const tree = new Map(from);
  for (let left = 1 + random.below(4); left > 0; left--) {
    const paths = [...tree.keys()];
    if (paths.length === 0) return makeTree(random);
    changeOnce(random, tree, random.pick(paths));
  }
  return tree;
}

function changeOnce(random: Random, tree: Map<string, MadeFile>, path: string): void {
  const file = tree.get(path) as MadeFile;
  const isText = file.mode.startsWith("100") && !file.content.includes("\0");
  const edited = (times: number): MadeFile =>
    isText ? { ...file, content: editText(random, file.content, times) } : makeFile(random);
  const kind = random.below(16);
  if (kind < 5) {
    tree.set(path, edited(1 + random.below(3)));
  } else if (kind < 6) {
    tree.delete(path);
  } else if (kind < 9) {
    tree.delete(path);
    put(tree, makePath(random), random.below(2) === 0 ? file : edited(1 + random.below(2)));
  } else if (kind < 11) {
    put(tree, makePath(random), makeFile(random));
  } else if (kind < 12) {
    if (isText) tree.set(path, { ...file, mode: file.mode === "100755" ? "100644" : "100755" });
  } else if (kind < 13) {
    tree.set(path, makeFile(random));
  } else if (kind < 14) {
    put(tree, `${path}/${random.pick(NAMES)}`, makeFile(random));
  } else {
    moveDirectory(random, tree);
  }
}

function moveDirectory(random: Random, tree: Map<string, MadeFile>): void {
  const from = random.pick(DIRECTORIES.slice(1));
  const to = random.pick([...DIRECTORIES.slice(1), "d/", "d/y/"]);
  if (to.startsWith(from)) return;
  for (const [path, file] of tree) {
    if (!path.startsWith(from)) continue;
    tree.delete(path);
    put(tree, to + path.slice(from.length), file);
  }
}

/** A plausible merge result of several trees: each path is taken from one of them. */
export function mixTrees(random: Random, trees: readonly MadeTree[]): MadeTree {
  const mixed = new Map<string, MadeFile>();
  for (const path of new Set(trees.flatMap((tree) => [...tree.keys()]))) {
    const file = random.pick(trees).get(path);
    if (file) put(mixed, path, file);
  }
  return mixed.size > 0 ? mixed : makeTree(random);
}
