import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { oidBytes } from "../../../src/git/oid.ts";
import { codec } from "../../../src/storage/codec.ts";
import { makeRandom } from "../../git/support/random.ts";
import { git, makeDirectory } from "./git.ts";

/** What is odd about a history, as numbers of its commits from the first one on. */
export interface Oddities {
  /** Directories of these commits have modes such as `040000`. */
  readonly isPadded: (commit: number) => boolean;
  /** The identity of a commit, without its time; undefined for the usual one. */
  readonly identity: (commit: number, seconds: number) => string | undefined;
  /** Whether a tag has no tagger. */
  readonly isWithoutTagger: (tag: number) => boolean;
}

/**
 * As psf/requests is reported: a few commits with a zone of six digits, written with its seconds.
 */
export const ODD_ZONES: Oddities = {
  isPadded: () => false,
  identity: (commit, seconds) =>
    commit % 700 === 650 ? `Kenneth <kenneth@example.com> ${seconds} +051800` : undefined,
  isWithoutTagger: () => false,
};

/**
 * As ohmyzsh/ohmyzsh and sinatra/sinatra are reported: hundreds of trees written by an early tool
 * that padded modes, names and addresses that are missing, and tags without a tagger.
 */
export const PADDED_MODES: Oddities = {
  isPadded: (commit) => commit > 200 && commit < 700,
  identity: (commit, seconds) => {
    if (commit % 500 === 100) return `<nobody@example.com> ${seconds} -0700`;
    if (commit % 500 === 200) return `Robby<robby@example.com> ${seconds} -0700`;
    if (commit % 500 === 300) return `Robby <robby@example.com>${seconds} -0700`;
    if (commit % 500 === 400) return `Robby <robby@example.com> ${seconds} -700`;
    return undefined;
  },
  isWithoutTagger: (tag) => tag % 3 === 0,
};

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

/**
 * Makes a bare repository of `commitCount` commits: side branches that are merged, release
 * branches, light and annotated tags. Its objects are made of bytes, since git writes none of the
 * oddities.
 */
export async function makeOldHistory(commitCount: number, odd: Oddities): Promise<string> {
  const random = makeRandom(commitCount);
  const builder = new PackBuilder(codec);
  const refs: string[] = [];
  /** Files by directory. */
  const files = new Map<string, Map<string, string>>();
  const treeOids = new Map<string, string>();

  const writeTree = (
    name: string,
    entries: [mode: string, name: string, oid: string][],
  ): string => {
    const sorted = entries.toSorted(([aMode, a], [bMode, b]) => {
      const [left, right] = [
        aMode.endsWith("40000") ? `${a}/` : a,
        bMode.endsWith("40000") ? `${b}/` : b,
      ];
      return left < right ? -1 : 1;
    });
    const parts = sorted.flatMap(([mode, entry, oid]) => [
      bytesOf(`${mode} ${entry}\0`),
      oidBytes(oid),
    ]);
    const oid = builder.add("tree", Buffer.concat(parts), treeOids.get(name));
    treeOids.set(name, oid);
    return oid;
  };
  const writeRoot = (isPadded: boolean): string => {
    const directories = [...files].map(([name, entries]): [string, string, string] => {
      const listed = [...entries].map(([file, oid]): [string, string, string] => [
        "100644",
        file,
        oid,
      ]);
      return [isPadded ? "040000" : "40000", name, writeTree(name, listed)];
    });
    return writeTree("", [["100755", "run.sh", run], ...directories]);
  };
  const run = builder.add("blob", bytesOf("#!/bin/sh\nexit 0\n"));

  let main = "";
  let side = "";
  for (let at = 0; at < commitCount; at++) {
    const directory = `plugin-${random.below(12)}`;
    const file = `file-${random.below(9)}.txt`;
    const content = Array.from(
      { length: 1 + random.below(30) },
      () => `line ${random.below(100)}\n`,
    );
    const oid = builder.add("blob", bytesOf(content.join("")));
    files.set(directory, new Map(files.get(directory)).set(file, oid));

    const seconds = 1_300_000_000 + at * 3600 + random.below(3000);
    const usual = `Robby Example <robby@example.com> ${seconds} -0600`;
    const who = odd.identity(at, seconds) ?? usual;
    const isOnSide = side !== "" && at % 20 < 6;
    const isMerge = side !== "" && at % 20 === 6;
    const parents = isMerge ? [main, side] : isOnSide ? [side] : main === "" ? [] : [main];
    const lines = parents.map((parent) => `parent ${parent}\n`).join("");
    const head = `tree ${writeRoot(odd.isPadded(at))}\n${lines}author ${who}\ncommitter ${who}\n`;
    const commit = builder.add("commit", bytesOf(`${head}\nChange ${at}\n\nin ${directory}\n`));
    if (isOnSide) side = commit;
    else main = commit;
    if (isMerge) side = "";
    if (at % 20 === 19 && at + 20 < commitCount) side = main;

    if (at % 100 === 99) refs.push(`create refs/heads/release-${at} ${commit}`);
    if (at % 50 === 49) refs.push(`create refs/tags/light-${at} ${commit}`);
    if (at % 50 === 24) {
      const tagger = odd.isWithoutTagger(at) ? "" : `tagger ${usual}\n`;
      const tag = `object ${commit}\ntype commit\ntag v${at}\n${tagger}\nVersion ${at}\n`;
      refs.push(`create refs/tags/v${at} ${builder.add("tag", bytesOf(tag))}`);
    }
  }
  refs.push(`create refs/heads/main ${main}`);
  return importPack(builder.build(), refs);
}

/** Makes a bare repository of a pack. @param refs Lines of input of `git update-ref --stdin`. */
export async function importPack(pack: Uint8Array, refs: readonly string[]): Promise<string> {
  const directory = makeDirectory();
  await git(directory, ["init", "--quiet", "--bare", "--initial-branch=main"]);
  await git(directory, ["index-pack", "--stdin"], pack);
  await git(directory, ["update-ref", "--stdin"], refs.map((line) => `${line}\n`).join(""));
  return directory;
}
