import { describe, expect, it } from "vitest";
import { type Blame, blame, openBlame } from "../../../src/git/blame/blame.ts";
import { type Budget, UNLIMITED } from "../../../src/git/budget.ts";
import type { ByteText } from "../../../src/git/byte-text.ts";
import { HistoryWriter, type MadeFile, type MadeTree } from "../merge/histories.ts";
import { CountingBudget } from "../support/counting-budget.ts";
import { git, makeFixture } from "../support/git.ts";
import { openHistory, type StoredHistory } from "../support/history.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { MeasuredTurns } from "../support/turns.ts";

/** The origin of a line, as `git blame --line-porcelain` reports it. */
interface Origin {
  readonly commit: string;
  readonly line: number;
  readonly path: string;
  /** The commit and path of the version before; "" without one. */
  readonly previous: string;
}

const unquote = (name: string): string =>
  name.startsWith('"') ? (JSON.parse(name) as string) : name;

/** An argument for git, from its output. */
const utf8 = (name: string): string => Buffer.from(name, "latin1").toString();

function blameByGit(repository: string, commit: string, path: string): Origin[] {
  const options = ["-c", "core.quotePath=false"];
  const text = git(repository, [...options, "blame", "--line-porcelain", commit, "--", utf8(path)]);
  const origins: Origin[] = [];
  let [found, previous, source] = ["", "", ""];
  for (const row of text.split("\n")) {
    const [, oid, line] = /^([0-9a-f]{40}) (\d+) \d+/.exec(row) ?? [];
    if (oid !== undefined) [found, previous, source] = [`${oid} ${line}`, "", ""];
    if (row.startsWith("previous ")) {
      previous = `${row.slice(9, 49)} ${unquote(row.slice(50))}`;
    }
    if (row.startsWith("filename ")) source = unquote(row.slice("filename ".length));
    if (!row.startsWith("\t")) continue;
    const [commitOid = "", number] = found.split(" ");
    origins.push({ commit: commitOid, line: Number(number), path: source, previous });
  }
  return origins;
}

async function start(history: StoredHistory, commit: string, path: string): Promise<Blame> {
  const oid = git(history.repository, ["rev-parse", `${commit}:${utf8(path)}`]);
  const { content } = (await history.objects.readObject(oid)) ?? {};
  const text = Buffer.from(content ?? []).toString("latin1");
  const lineCount = text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
  return openBlame({ commitOid: commit, path: path as ByteText }, lineCount);
}

function originsOf({ sources, ranges }: Blame): Origin[] {
  return ranges.flatMap(({ count, source, sourceLine }) => {
    const found = sources[source];
    if (!found) throw new Error("no source");
    const { commitOid, path, previous } = found;
    return Array.from({ length: count }, (_, at) => ({
      commit: commitOid,
      line: sourceLine + at + 1,
      path,
      previous: previous ? `${previous.commitOid} ${previous.path}` : "",
    }));
  });
}

const blameByUs = async (
  history: StoredHistory,
  commit: string,
  path: string,
  budget: Budget = UNLIMITED,
): Promise<Blame> => blame(history, await start(history, commit, path), budget);

/** The files of a commit. */
const filesOf = (repository: string, commit: string): string[] =>
  git(repository, ["ls-tree", "-r", "-z", commit])
    .split("\0")
    .filter((row) => row.startsWith("100"))
    .map((row) => row.slice(row.indexOf("\t") + 1));

/** A text of a few distinct lines, so that diffs are ambiguous. */
const makeLines = (random: Random, count: number): string[] =>
  Array.from({ length: count }, () =>
    random.below(4) === 0 ? "" : `${" ".repeat(random.below(3))}line ${random.below(30)}`,
  );

function edit(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let edits = 1 + random.below(4); edits > 0; edits--) {
    const added = makeLines(random, random.below(5));
    edited.splice(random.below(edited.length + 1), random.below(5), ...added);
  }
  return edited;
}

/** What the lines of a file are stored as: line ends of two kinds, and ends without one. */
const contentOf = (random: Random, lines: readonly string[]): string =>
  lines.join(random.below(12) === 0 ? "\r\n" : "\n") + (random.below(8) === 0 ? "" : "\n");

/** A merge of lines: some of one side, some of the other, some of neither. */
function mix(random: Random, ours: readonly string[], theirs: readonly string[]): string[] {
  const cut = random.below(Math.min(ours.length, theirs.length) + 1);
  const mixed = [...ours.slice(0, cut), ...theirs.slice(cut)];
  return random.below(2) === 0 ? mixed : edit(random, mixed);
}

/** Makes a history of files that are edited, merged, renamed, deleted and replaced. */
async function makeHistory(seed: number, count: number): Promise<StoredHistory> {
  const random = makeRandom(seed);
  const writer = new HistoryWriter();
  const trees: MadeTree[] = [];
  const file = (content: string, mode: MadeFile["mode"] = "100644"): MadeFile => ({
    mode,
    content,
  });
  const linesOf = ({ content }: MadeFile): string[] => content.split(/\r?\n/);
  for (let at = 0; at < count; at++) {
    const isRoot = at === 0 || random.below(40) === 0;
    const parents = isRoot
      ? []
      : [...new Set([at, ...Array.from({ length: random.below(3) }, () => at - random.below(6))])]
          .filter((mark) => mark > 0)
          .slice(0, random.below(3) === 0 ? 3 : 1);
    const [first, ...others] = parents.map((mark) => trees[mark - 1] as MadeTree);
    const tree = new Map(first ?? []);
    for (const other of others) {
      for (const [path, theirs] of other) {
        const ours = tree.get(path);
        if (!ours) tree.set(path, theirs);
        else if (ours.content !== theirs.content && random.below(3) > 0) {
          tree.set(path, file(contentOf(random, mix(random, linesOf(ours), linesOf(theirs)))));
        }
      }
    }
    if (tree.size < 3) {
      const lines = makeLines(random, random.below(10) === 0 ? 0 : 20 + random.below(150));
      tree.set(`dir${random.below(2)}/f${random.below(5)}`, file(contentOf(random, lines)));
    }
    const path = random.pick([...tree.keys()]);
    const old = tree.get(path) as MadeFile;
    const edited = contentOf(random, edit(random, linesOf(old)));
    switch (random.below(12)) {
      case 0:
        tree.delete(path);
        tree.set(`dir${random.below(2)}/f${random.below(9)}`, random.below(2) ? old : file(edited));
        break;
      case 1:
        tree.delete(path);
        break;
      case 2:
        tree.set(`copy${random.below(3)}`, file(edited));
        break;
      case 3:
        tree.set(path, file("target", "120000"));
        break;
      case 4:
        tree.set(path, { ...old, mode: old.mode === "120000" ? "120000" : "100755" });
        break;
      case 5:
        tree.set(path, file(random.below(2) === 0 ? "" : "\0 bytes\n"));
        break;
      default:
        tree.set(path, file(edited));
    }
    trees.push(tree);
    writer.commit(tree, parents);
  }
  return writer.store();
}

const histories: (readonly [name: string, history: StoredHistory])[] = [
  ["renames", await openHistory(makeFixture("renames"))],
  ["history", await openHistory(makeFixture("history"))],
  ["wrong clocks", await openHistory(makeFixture("random-history", "5", "200"))],
  ["few commits", await makeHistory(1, 60)],
  ["many commits", await makeHistory(2, 150)],
  ["other commits", await makeHistory(3, 150)],
];

/** Commits whose files are compared, the latest first. */
const commitsOf = ({ repository }: StoredHistory, count: number): string[] => {
  const all = git(repository, ["rev-list", "--all"]).split("\n");
  const step = Math.max(1, Math.floor(all.length / count));
  return all.filter((_, at) => at % step === 0);
};

describe.each(histories)("in the history of %s", (_, history) => {
  it("finds the origin of each line that git finds", async () => {
    let lines = 0;
    for (const commit of commitsOf(history, 5)) {
      for (const path of filesOf(history.repository, commit)) {
        const ours = originsOf(await blameByUs(history, commit, path));
        expect(ours, `${commit}:${path}`).toEqual(blameByGit(history.repository, commit, path));
        lines += ours.length;
      }
    }
    expect(lines).toBeGreaterThan(40);
  });
});

describe("a walk whose budget ends", () => {
  const [, [, history]] = histories as [unknown, (typeof histories)[number]];

  it("leaves lines open that may be older, and continues", async () => {
    const [commit = ""] = commitsOf(history, 1);
    let openCount = 0;
    for (const path of filesOf(history.repository, commit)) {
      const theirs = blameByGit(history.repository, commit, path);
      let found = await blameByUs(history, commit, path, new CountingBudget(20_000));
      for (let walks = 0; found.sources.some(({ isOpen }) => isOpen); walks++) {
        openCount++;
        expect(walks).toBeLessThan(200);
        const isOpen = ({ commit: oid }: Origin) =>
          found.sources.some((source) => source.isOpen && source.commitOid === oid);
        const known = originsOf(found).map((origin, at) => (isOpen(origin) ? theirs[at] : origin));
        expect(known).toEqual(theirs);
        // A walk can end within a version, so that each of the next ones has more.
        found = await blame(history, found, new CountingBudget(20_000 * (walks + 1)));
      }
      expect(originsOf(found)).toEqual(theirs);
    }
    expect(openCount).toBeGreaterThan(0);
  });

  it("lets other work run in between", async () => {
    const turns = new MeasuredTurns();
    const [commit = ""] = commitsOf(history, 1);
    const [path = ""] = filesOf(history.repository, commit);
    await blame(history, await start(history, commit, path), turns);
    expect(turns.longest).toBeLessThan(200_000);
    expect(turns.total).toBeGreaterThan(turns.longest);
  });
});
