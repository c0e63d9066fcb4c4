import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { parseCommit } from "../../../src/git/object/commit.ts";
import { parseTree } from "../../../src/git/object/tree.ts";
import type { StoredObject } from "../../../src/git/store.ts";
import { codec } from "./codec.ts";
import { git, gitBytes, makeRepository } from "./git.ts";
import { parseBatch } from "./packs.ts";
import { type KeptPack, receivePack } from "./pushes.ts";
import { makeRandom } from "./random.ts";

const DIRECTORIES = ["src", "src/deep", "docs", "lib/a/b"];
/** Number of files that change; the others stay as they are. */
const CHANGING = 8;

export interface TextHistory {
  readonly directory: string;
  /** Commits of `main`, oldest first. */
  readonly tips: readonly string[];
}

/**
 * Makes a bare repository of text files with `count` commits, each of which edits a few lines of
 * some files.
 */
export function makeTextHistory(count: number): TextHistory {
  const directory = makeRepository();
  const random = makeRandom(5);
  const line = (): string =>
    Array.from({ length: 3 + random.below(8) }, () => random.below(60_000).toString(36)).join(" ");
  const files = Array.from({ length: 24 }, (_, at) => ({
    name: `${random.pick(DIRECTORIES)}/file${at}.txt`,
    lines: Array.from({ length: 20 + random.below(200) }, line),
  }));
  const stream: string[] = [];
  for (let mark = 1; mark <= count; mark++) {
    const message = `change ${mark}: ${line()}\n`;
    stream.push(
      `commit refs/heads/main\nmark :${mark}\n`,
      `committer A U Thor <author@example.com> ${1_700_000_000 + 60 * mark} +0000\n`,
      `data ${message.length}\n${message}`,
    );
    const changed =
      mark === 1 ? files : [random.pick(files.slice(0, CHANGING)), files[mark % CHANGING]];
    for (const file of new Set(changed)) {
      if (!file) continue;
      const edits = mark === 1 ? 0 : 1 + random.below(3);
      for (let edit = 0; edit < edits; edit++) {
        file.lines.splice(random.below(file.lines.length), random.below(2), line());
      }
      const text = `${file.lines.join("\n")}\n`;
      stream.push(`M 100644 inline ${file.name}\ndata ${text.length}\n${text}\n`);
    }
  }
  git(directory, ["fast-import", "--quiet"], { input: stream.join("") });
  return { directory, tips: git(directory, ["rev-list", "--reverse", "main"]).split("\n") };
}

/** Returns the packs of one API write per commit, in which all objects are stored whole. */
export async function receiveWrites({ directory, tips }: TextHistory): Promise<KeptPack[]> {
  const objects = readAllByGit(directory);
  const known = new Set<string>();
  const packs: KeptPack[] = [];
  for (const tip of tips) {
    const builder = new PackBuilder(codec);
    const add = (oid: string): void => {
      const object = objects.get(oid);
      if (!object || known.has(oid)) return;
      known.add(oid);
      builder.add(object.kind, object.content);
      if (object.kind === "commit") add(parseCommit(object.content).treeOid);
      if (object.kind === "tree") for (const entry of parseTree(object.content)) add(entry.oid);
    };
    add(tip);
    packs.push(await receivePack(packs, builder.build()));
  }
  return packs;
}

/** Reads every object of a repository with git. */
export const readAllByGit = (directory: string): Map<string, StoredObject> =>
  parseBatch(gitBytes(directory, ["cat-file", "--batch", "--batch-all-objects"]));
