import { deflateSync } from "node:zlib";
import { createHash } from "node:crypto";

import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { KIND_CODES, type ObjectKind } from "../../src/git/object/kind.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { formatEntryHeader, REF_DELTA } from "../../src/git/pack/entry-header.ts";
import { formatPackHeader } from "../../src/git/pack/pack-scanner.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";

/** An object that a pack stores whole. */
export interface CraftedObject {
  kind: ObjectKind;
  content: Uint8Array;
  oid: string;
}

const WHO = "A <a@example.com> 1700000000 +0000";

export function craft(kind: ObjectKind, content: Uint8Array | string): CraftedObject {
  const bytes = typeof content === "string" ? encodeUtf8(content) : content;
  const header = encodeUtf8(`${kind} ${bytes.length}\0`);
  const oid = createHash("sha1").update(header).update(bytes).digest("hex");
  return { kind, content: bytes, oid };
}

/** A tree of entries like `["100644", "file", oid]`, in git's order. */
export const craftTree = (entries: readonly [mode: string, name: string, oid: string][]) =>
  craft(
    "tree",
    joinBytes(
      entries.flatMap(([mode, name, oid]) => [encodeUtf8(`${mode} ${name}\0`), oidBytes(oid)]),
    ),
  );

export function craftCommit(treeOid: string, parentOids: readonly string[] = [], text = "commit") {
  const parents = parentOids.map((oid) => `parent ${oid}\n`).join("");
  return craft("commit", `tree ${treeOid}\n${parents}author ${WHO}\ncommitter ${WHO}\n\n${text}\n`);
}

export const craftTag = (kind: ObjectKind, oid: string, name = "v1") =>
  craft("tag", `object ${oid}\ntype ${kind}\ntag ${name}\ntagger ${WHO}\n\n${name}\n`);

/** A delta against a base of `baseBytes` (below 128): all of it, followed by `text`. */
export function craftDelta(baseOid: string, baseBytes: number, text: string): Uint8Array {
  const added = encodeUtf8(text);
  const delta = Uint8Array.of(baseBytes, baseBytes + added.length, 0x90, baseBytes, added.length);
  const bytes = joinBytes([delta, added]);
  return joinBytes([
    formatEntryHeader(REF_DELTA, bytes.length),
    oidBytes(baseOid),
    deflateSync(bytes),
  ]);
}

/** A pack of objects, and of entries as they are. */
export function craftPack(
  objects: readonly CraftedObject[],
  entries: readonly Uint8Array[] = [],
): Uint8Array {
  const whole = objects.map(({ kind, content }) =>
    joinBytes([formatEntryHeader(KIND_CODES[kind], content.length), deflateSync(content)]),
  );
  const body = joinBytes([formatPackHeader(whole.length + entries.length), ...whole, ...entries]);
  return joinBytes([body, createHash("sha1").update(body).digest()]);
}
