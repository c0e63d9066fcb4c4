import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";

/** What of a commit without files matters to a test. */
interface Fields {
  /** Of the committer, in seconds. */
  at?: number;
  author?: string;
  authorAt?: number;
  /** Lines behind the committer, each with its end. */
  headers?: string;
}

/** A commit without files, and a pack of it. */
export function makeDatedCommit(
  message: string,
  {
    at = 1_700_000_000,
    author = "Ada <ada@example.com>",
    authorAt = 1_600_000_000,
    headers = "",
  }: Fields = {},
) {
  const builder = new PackBuilder(codec);
  const treeOid = builder.add("tree", new Uint8Array());
  const content = encodeUtf8(
    `tree ${treeOid}\nauthor ${author} ${authorAt} +0200\ncommitter C <c@example.com> ${at} +0000\n${headers}\n${message}\n`,
  );
  return { oid: builder.add("commit", content), pack: builder.build() };
}
