import { makeRandom, type Random } from "../../git/support/random.ts";
import type { Piece } from "./fast-import.ts";

/** A file by its mode: its content, or the commit of a submodule. */
interface Entry {
  readonly mode: "100644" | "100755" | "120000" | "160000";
  readonly content: string;
}

/** The files of a commit by path. A path never becomes a directory. */
type Files = ReadonlyMap<string, Entry>;

interface Side {
  readonly branch: string;
  mark: number;
  files: Files;
}

const NAMES = ["a.txt", "b.txt", "with space.txt", "spaß.txt", "dir/c.txt", "dir/deep/d.txt"];
const SPARE = ["new.txt", "dir/moved.txt", "other/e.txt", "other/f.txt", "z.txt"];

/**
 * Input for `git fast-import`: pairs of branches `base-N` and `head-N`, with histories of their
 * own. In these, text, binary files, symbolic links and submodules are changed, moved, added,
 * removed and turned into one another, the base is merged into the head, and each into the other at
 * once.
 */
export function* branchPairs(seed: number, count: number): Generator<Piece> {
  const maker = new PairMaker(makeRandom(seed));
  for (let number = 1; number <= count; number++) yield* maker.make(number);
}

class PairMaker {
  private readonly random: Random;
  private marks = 0;

  constructor(random: Random) {
    this.random = random;
  }

  *make(number: number): Generator<Piece> {
    const { random } = this;
    const files = this.begin();
    const base: Side = { branch: `base-${number}`, mark: 0, files };
    const head: Side = { branch: `head-${number}`, mark: 0, files };
    yield* this.commit(base, []);
    head.mark = base.mark;
    for (let step = 0; step < 2 + random.below(6); step++) {
      const kind = random.below(8);
      if (kind === 0) yield* this.merge(head, base);
      else if (kind === 1) yield* this.cross(head, base);
      else yield* this.change(kind < 4 ? base : head);
    }
    yield* this.change(head);
  }

  private begin(): Files {
    const { random } = this;
    const files = new Map<string, Entry>([
      ["data.bin", { mode: "100644", content: this.binary() }],
      ["run.sh", { mode: "100755", content: "echo run\n" }],
      ["link", { mode: "120000", content: "a.txt" }],
      ["module", { mode: "160000", content: this.oid() }],
    ]);
    for (const name of NAMES) {
      if (random.below(5) > 0) files.set(name, { mode: "100644", content: this.text() });
    }
    return files;
  }

  private *change(side: Side): Generator<Piece> {
    const files = new Map(side.files);
    for (let round = 0; round < 1 + this.random.below(3); round++) this.changeOne(files);
    side.files = files;
    yield* this.commit(side, [side.mark]);
  }

  private *merge(into: Side, from: Side): Generator<Piece> {
    into.files = this.mix(into.files, from.files);
    yield* this.commit(into, [into.mark, from.mark]);
  }

  /** Merges each of two branches into the other, which leaves two merge bases. */
  private *cross(left: Side, right: Side): Generator<Piece> {
    yield* this.change(left);
    yield* this.change(right);
    const [leftMark, rightMark] = [left.mark, right.mark];
    [left.files, right.files] = [
      this.mix(left.files, right.files),
      this.mix(right.files, left.files),
    ];
    yield* this.commit(left, [leftMark, rightMark]);
    yield* this.commit(right, [rightMark, leftMark]);
  }

  /** Files of either side: what a merge contains does not matter to comparisons. */
  private mix(into: Files, from: Files): Files {
    const mixed = new Map(into);
    for (const [path, entry] of from) if (this.random.below(2) === 0) mixed.set(path, entry);
    return mixed;
  }

  private changeOne(files: Map<string, Entry>): void {
    const { random } = this;
    const path = random.pick([...files.keys()]);
    const entry = files.get(path) as Entry;
    const isText = entry.mode.startsWith("100") && !entry.content.includes("\0");
    // Git before 2.44 leaves a last line without a line feed out when it looks for renames.
    const isEnded = !isText || entry.content.endsWith("\n");
    switch (random.below(9)) {
      case 0:
        if (!isEnded) return;
        files.delete(path);
        if (files.size === 0) files.set("left", { mode: "100644", content: this.text() });
        return;
      case 1:
        if (!isEnded) return;
        files.delete(path);
        files.set(random.pick(SPARE), isText ? this.edited(entry, random.below(2), true) : entry);
        return;
      case 2:
        files.set(random.pick(SPARE), { mode: "100644", content: this.text(true) });
        return;
      case 3:
        if (isText) files.set(path, { mode: "120000", content: random.pick(NAMES) });
        else files.set(path, { mode: "100755", content: this.text() });
        return;
      case 4:
        if (!entry.mode.startsWith("100")) return;
        files.set(path, { ...entry, mode: entry.mode === "100644" ? "100755" : "100644" });
        return;
      case 5:
        files.set("data.bin", { mode: "100644", content: this.binary() });
        return;
      case 6:
        files.set("module", { mode: "160000", content: this.oid() });
        return;
      case 7:
        if (isText) files.set(path, { ...entry, content: this.respaced(entry.content) });
        return;
      default:
        if (isText) files.set(path, this.edited(entry, 1 + random.below(3)));
    }
  }

  private edited(entry: Entry, times: number, isEnded = false): Entry {
    const { random } = this;
    const lines = entry.content.split("\n");
    for (let round = 0; round < times; round++) {
      const at = random.below(lines.length);
      lines.splice(at, random.below(3), ...this.text().split("\n").slice(0, random.below(4)));
    }
    const content = lines.join("\n");
    return { ...entry, content: isEnded ? content.replace(/\n?$/, "\n") : content };
  }

  /** The text with other white space. */
  private respaced(text: string): string {
    const { random } = this;
    const way = random.below(4);
    if (way === 0) return text.replaceAll("\n", "\r\n");
    if (way === 1) return text.replaceAll(/^ */gm, "\t");
    if (way === 2) return text.replaceAll(/ +/g, "  ");
    return text.replaceAll("\n", () => random.pick([" \n", "\n", "\t\n"]));
  }

  private text(isEnded = false): string {
    const { random } = this;
    const lines = Array.from({ length: random.below(25) }, () => {
      const indent = "  ".repeat(random.below(4));
      return random.pick([`${indent}}`, "", `${indent}call w${random.below(50)} ()`, "end"]);
    });
    return lines.join("\n") + (!isEnded && random.below(5) === 0 ? "" : "\n");
  }

  private binary(): string {
    return Buffer.from(this.random.bytes(20 + this.random.below(200))).toString("latin1") + "\0";
  }

  private oid(): string {
    return Buffer.from(this.random.bytes(20)).toString("hex");
  }

  private *commit(side: Side, parents: readonly number[]): Generator<Piece> {
    const mark = ++this.marks;
    const [first, ...others] = parents;
    const who = `C O Mitter <committer@example.com> ${1_600_000_000 + mark * 60} +0000`;
    // A branch of its own first commit must not begin with what the branch of the same name has.
    if (first === undefined) yield `reset refs/heads/${side.branch}\n`;
    yield `commit refs/heads/${side.branch}\nmark :${mark}\ncommitter ${who}\n`;
    yield* data(Buffer.from(`change ${mark}\n`));
    if (first !== undefined) yield `from :${first}\n`;
    for (const other of others) yield `merge :${other}\n`;
    yield "deleteall\n";
    for (const [path, { mode, content }] of side.files) {
      if (mode === "160000") {
        yield `M ${mode} ${content} ${path}\n`;
        continue;
      }
      yield `M ${mode} inline ${path}\n`;
      yield* data(Buffer.from(content, content.includes("\0") ? "latin1" : "utf8"));
    }
    side.mark = mark;
  }
}

function* data(content: Uint8Array): Generator<Piece> {
  yield `data ${content.length}\n`;
  yield content;
  yield "\n";
}
