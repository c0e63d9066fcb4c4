import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";

/** The fields of a commit that a test sets. */
interface Fields {
  /** Time of the committer, in seconds. */
  at?: number;
  author?: string;
  authorAt?: number;
  /** Header lines after the committer line, each with its line feed. */
  headers?: string;
}

/** A commit with an empty tree, and a pack that contains it. */
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
