import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";

/** An annotated tag of an object, and a pack that contains the tag. */
export function makeTag(
  targetOid: string,
  name: string,
  { kind = "commit", message = "a tag\n", at = 1_650_000_000 } = {},
) {
  const content = `object ${targetOid}\ntype ${kind}\ntag ${name}\ntagger T <t@example.com> ${at} +0100\n\n${message}`;
  const builder = new PackBuilder(codec);
  const oid = builder.add("tag", encodeUtf8(content));
  return { oid, content, pack: builder.build() };
}
