import { env } from "cloudflare:workers";

import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { networkPrefix } from "../../src/storage/keys.ts";
import { type Answer, visit as visitAsIs } from "./call.ts";
import type { TestRepo, TestUser } from "./make.ts";

export const NULL = "0".repeat(40);

/** A commit of one file, and packs of it: whole, and without the file. */
export function makeCommit(text: string) {
  const build = (hasBlob: boolean) => {
    const builder = new PackBuilder(codec);
    const blob = new PackBuilder(codec).add("blob", encodeUtf8(text));
    if (hasBlob) builder.add("blob", encodeUtf8(text));
    const tree = builder.add("tree", joinBytes([encodeUtf8("100644 file\0"), oidBytes(blob)]));
    const who = "A <a@example.com> 1700000000 +0000";
    const oid = builder.add(
      "commit",
      encodeUtf8(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${text.slice(0, 50)}\n`),
    );
    return { oid, treeOid: tree, pack: builder.build() };
  };
  return { ...build(true), holed: build(false).pack };
}

/** One ref to move. */
export interface Command {
  ref: string;
  old?: string;
  new?: string;
}

/** What a push may have beside its commands. */
export interface PushExtras {
  pack?: Uint8Array;
  /** Words of the client's, beside `report-status`. */
  capabilities?: string;
  /** Sent where the capabilities hold `push-options`. */
  options?: string[];
  visit?: typeof visitAsIs;
}

/** What a client sends for a ref to an object that is there. */
export const makeEmptyPack = (): Uint8Array => new PackBuilder(codec).build();

/** Pushes whatever a client could send. */
export function pushCommands(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  commands: readonly Command[],
  { pack, capabilities = "", options = [], visit = visitAsIs }: PushExtras = {},
): Promise<Answer> {
  const pkt = (line: string): string => {
    const length = encodeUtf8(line).length + 4;
    return `${length.toString(16).padStart(4, "0")}${line}`;
  };
  const lines = commands.map((command, at) => {
    const words = at === 0 ? `\0report-status ${capabilities}` : "";
    return pkt(`${command.old ?? NULL} ${command.new ?? NULL} ${command.ref}${words}`);
  });
  const isWithOptions = capabilities.split(" ").includes("push-options");
  const tail = isWithOptions ? `${options.map(pkt).join("")}0000` : "";
  const head = encodeUtf8(`${lines.join("")}0000${tail}`);
  return visit("POST", `/${repo.owner}/${repo.name}.git/git-receive-pack`, {
    as,
    headers: { "Content-Type": "application/x-git-receive-pack-request" },
    body: joinBytes(pack ? [head, pack] : [head]) as Uint8Array<ArrayBuffer>,
  });
}

/** Pushes a pack to `ref`, which is not there yet. */
export const push = (
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  oid: string,
  pack: Uint8Array,
  ref = "refs/heads/main",
): Promise<Answer> => pushCommands(as, repo, [{ ref, new: oid }], { pack });

export const refsOf = async (repo: TestRepo) =>
  (await env.REPOSITORY.getByName(String(repo.id)).snapshot()).refs;

export const filesOf = async (repo: TestRepo) =>
  (await env.PACKS.list({ prefix: networkPrefix(repo.id) })).objects.map(({ key }) => key);
