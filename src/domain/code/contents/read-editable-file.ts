import { isSymlinkMode, isSubmoduleMode, isTreeMode } from "../../../git/object/tree.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { Revision } from "../git/find-revision.ts";
import { findEntry } from "./find-entry.ts";
import { readLfsPointer } from "./lfs-pointer.ts";
import type { TextForm } from "./text-form.ts";

/** Maximum size of a file that is edited as text, in bytes. */
export const EDITED_BYTES_MAX = 1024 * 1024;

/** A file as an editor opens it. */
export interface EditableFile {
  /** The id of its blob, which a change of it names. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Why it has no text to edit; undefined for a text. */
  readonly obstacle: "symlink" | "submodule" | "lfs" | "binary" | "large" | undefined;
  /** With line feeds, and without a byte order mark; "" for what is no text. */
  readonly text: string;
  /** The stored content; empty for what is no text. */
  readonly content: Uint8Array;
  readonly form: TextForm;
  /** Whether some lines end in another way than `form` says. */
  readonly isMixed: boolean;
}

const PLAIN: Pick<EditableFile, "text" | "content" | "form" | "isMixed"> = {
  text: "",
  content: new Uint8Array(0),
  form: { lineEnd: "lf", hasMark: false },
  isMixed: false,
};

/**
 * Reads the file at a path of a revision, to edit it.
 *
 * Cost: one read per directory of the path, and one of a file that is small enough.
 *
 * @returns Undefined for no file, and for a directory.
 */
export async function readEditableFile(
  repository: OpenRepository,
  { node }: Pick<Revision, "node">,
  names: readonly string[],
): Promise<EditableFile | undefined> {
  const { catalog, graph, objects } = repository;
  const root = await graph.loadRoot(node);
  const entry = root && (await findEntry(repository, root, names));
  if (!entry || isTreeMode(entry.mode)) return undefined;
  const { oid, mode } = entry;
  if (isSubmoduleMode(mode)) return { oid, sizeBytes: 0, obstacle: "submodule", ...PLAIN };
  const found = await resident(() => catalog.findSized(oid));
  if (!found) throw new Error(`the blob ${oid} is not stored`);
  const { sizeBytes } = found;
  if (isSymlinkMode(mode)) return { oid, sizeBytes, obstacle: "symlink", ...PLAIN };
  if (sizeBytes > EDITED_BYTES_MAX) return { oid, sizeBytes, obstacle: "large", ...PLAIN };
  const content = await objects.readAt(found.location);
  if (readLfsPointer(content)) return { oid, sizeBytes, obstacle: "lfs", ...PLAIN };
  const text = decode(content);
  if (text === undefined) return { oid, sizeBytes, obstacle: "binary", ...PLAIN };
  return { oid, sizeBytes, obstacle: undefined, content, ...toLines(text) };
}

/** The text of a content; undefined for one that is no UTF-8, which an edit would change. */
function decode(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

function toLines(text: string): Pick<EditableFile, "text" | "form" | "isMixed"> {
  const hasMark = text.startsWith("\uFEFF");
  const lines = hasMark ? text.slice(1) : text;
  const returns = lines.split("\r").length - 1;
  const pairs = lines.split("\r\n").length - 1;
  const feeds = lines.split("\n").length - 1;
  const lineEnd = pairs > feeds / 2 ? "crlf" : "lf";
  return {
    text: lines.replaceAll(/\r\n?/g, "\n"),
    form: { lineEnd, hasMark },
    isMixed: returns > 0 && (returns !== pairs || pairs !== feeds),
  };
}
