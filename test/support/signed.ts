import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";

/** Signs bytes and returns the armored signature, like the signing program that git runs. */
export type Signer = (bytes: Uint8Array) => Promise<string>;

interface Fields {
  /** Name and address. */
  committer: string;
  message?: string;
  sign: Signer;
  /**
   * Makes the stored commit from the signed content and the signature header; by default,
   * `git commit -S`'s form.
   */
  store?: (content: string, signatureHeader: string) => string;
}

/** A commit as `git commit -S` creates it, and a pack that contains it. */
export async function makeSignedCommit({
  committer,
  message = "Change\n",
  sign,
  store = (content, header) => content.replace("\n\n", `\n${header}\n`),
}: Fields) {
  const builder = new PackBuilder(codec);
  const treeOid = builder.add("tree", new Uint8Array());
  const who = `${committer} 1700000000 +0000`;
  const content = `tree ${treeOid}\nauthor ${who}\ncommitter ${who}\n\n${message}`;
  const signature = (await sign(encodeUtf8(content))).trimEnd();
  const stored = store(content, signatureHeader(signature));
  return {
    oid: builder.add("commit", encodeUtf8(stored)),
    pack: builder.build(),
    content,
    signature,
  };
}

export const signatureHeader = (signature: string): string =>
  `gpgsig ${signature.replaceAll("\n", "\n ")}\n`;

/** An annotated tag as `git tag -s` creates it, and a pack that contains it. */
export async function makeSignedTag(
  commitOid: string,
  { tagger, sign, append = "" }: { tagger: string; sign: Signer; append?: string | undefined },
) {
  const content = `object ${commitOid}\ntype commit\ntag v1\ntagger ${tagger} 1700000000 +0000\n\nOne\n`;
  const signature = await sign(encodeUtf8(content));
  const builder = new PackBuilder(codec);
  const oid = builder.add("tag", encodeUtf8(`${content}${signature}${append}`));
  return { oid, pack: builder.build(), content, signature };
}
