import { encodeText, encodeUtf8 } from "../../src/git/byte-text.ts";
import { formatTree, MODE_FILE, MODE_SUBMODULE, MODE_TREE } from "../../src/git/object/tree.ts";
import type { Oid } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";

/**
 * The content of a path: the text or bytes of a file, or an entry of another mode, such as a
 * submodule's id.
 */
export type TestFile = string | Uint8Array | { mode: number; content: string };

export interface MadeFiles {
  oid: Oid;
  treeOid: Oid;
  pack: Uint8Array;
  /** The object id of each path, directories included. */
  oids: Record<string, Oid>;
}

/** A commit of files by path, and a pack that contains it and its parents. */
export function makeFiles(
  files: Record<string, TestFile>,
  { seconds = 1_700_000_000, before }: { seconds?: number; before?: MadeFiles } = {},
): MadeFiles {
  const builder = new PackBuilder(codec);
  const oids: Record<string, Oid> = {};
  const addDirectory = (above: string, paths: readonly string[]): Oid => {
    const names = new Map<string, string[]>();
    for (const path of paths) {
      const [name = ""] = path.slice(above.length).split("/");
      names.set(name, [...(names.get(name) ?? []), path]);
    }
    const entries = Array.from(names, ([name, below]) => {
      const path = above + name;
      const file = files[path];
      const entry =
        file === undefined
          ? { mode: MODE_TREE, oid: addDirectory(`${path}/`, below) }
          : addFile(file);
      oids[path] = entry.oid;
      return { ...entry, name: encodeText(name) };
    });
    return builder.add("tree", formatTree(entries));
  };
  const addFile = (file: TestFile) => {
    const isPlain = typeof file === "string" || file instanceof Uint8Array;
    const { mode, content } = isPlain ? { mode: MODE_FILE, content: file } : file;
    if (mode === MODE_SUBMODULE) return { mode, oid: content as string };
    const bytes = typeof content === "string" ? encodeUtf8(content) : content;
    return { mode, oid: builder.add("blob", bytes) };
  };
  const treeOid = addDirectory("", Object.keys(files));
  const who = `A <a@example.com> ${seconds} +0000`;
  const parent = before ? `parent ${before.oid}\n` : "";
  const text = `tree ${treeOid}\n${parent}author ${who}\ncommitter ${who}\n\nat ${seconds}\n`;
  const oid = builder.add("commit", encodeUtf8(text));
  return { oid, treeOid, pack: builder.build(), oids };
}
