import { env } from "cloudflare:workers";

import { recordPush } from "../../src/domain/code/git/record-push.ts";
import { recordWikiPush } from "../../src/domain/code/git/record-wiki-push.ts";
import { wikiLocation } from "../../src/domain/code/wiki/to-wiki.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { DEFAULT_PACK_LIMITS } from "../../src/git/pack/limits.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { networkPrefix } from "../../src/storage/keys.ts";
import type { RepositoryLocation } from "../../src/storage/repository-records.ts";
import { type Answer, visit as visitAsIs } from "./call.ts";
import { git } from "./git.ts";
import { systemCtx } from "./system.ts";
import type { TestRepo, TestUser } from "./make.ts";

export const NULL = "0".repeat(40);

/** A commit of one file, a complete pack of it, and a pack that lacks the blob (`holed`). */
export function makeCommit(text: string, content = encodeUtf8(text)) {
  const build = (hasBlob: boolean) => {
    const builder = new PackBuilder(codec);
    const blob = new PackBuilder(codec).add("blob", content);
    if (hasBlob) builder.add("blob", content);
    const tree = builder.add("tree", joinBytes([encodeUtf8("100644 file\0"), oidBytes(blob)]));
    const who = "A <a@example.com> 1700000000 +0000";
    const oid = builder.add(
      "commit",
      encodeUtf8(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${text.slice(0, 50)}\n`),
    );
    return { oid, treeOid: tree, blobOid: blob, pack: builder.build() };
  };
  return { ...build(true), holed: build(false).pack };
}

/** One ref update of a push. */
export interface Command {
  ref: string;
  old?: string;
  new?: string;
}

/** The parts of a push besides its commands. */
export interface PushExtras {
  pack?: Uint8Array;
  /** Capabilities of the client besides `report-status`, separated by spaces. */
  capabilities?: string;
  /** Boundary of a shallow client. */
  shallow?: string[];
  /** Push options; sent if the capabilities contain `push-options`. */
  options?: string[];
  visit?: typeof visitAsIs;
}

/** The pack that a client sends if the server already has all objects. */
export const makeEmptyPack = (): Uint8Array => new PackBuilder(codec).build();

const HEADERS = { "Content-Type": "application/x-git-receive-pack-request" };
const pathOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">): string =>
  `/${owner}/${name}.git/git-receive-pack`;

/** Sends a push with any commands, as a client could. */
export const pushCommands = (
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  commands: readonly Command[],
  { visit = visitAsIs, ...extras }: PushExtras = {},
): Promise<Answer> =>
  visit("POST", pathOf(repo), { as, headers: HEADERS, body: pushBody(commands, extras) });

/** The body of a push. */
export function pushBody(
  commands: readonly Command[],
  { pack, capabilities = "", shallow = [], options = [] }: PushExtras,
): Uint8Array<ArrayBuffer> {
  const pkt = (line: string): string => {
    const length = encodeUtf8(line).length + 4;
    return `${length.toString(16).padStart(4, "0")}${line}`;
  };
  const lines = commands.map((command, at) => {
    const capabilityList = at === 0 ? `\0report-status ${capabilities}` : "";
    return pkt(`${command.old ?? NULL} ${command.new ?? NULL} ${command.ref}${capabilityList}`);
  });
  const isWithOptions = capabilities.split(" ").includes("push-options");
  const tail = isWithOptions ? `${options.map(pkt).join("")}0000` : "";
  const boundary = shallow.map((oid) => pkt(`shallow ${oid}`));
  const head = encodeUtf8(`${[...boundary, ...lines].join("")}0000${tail}`);
  return joinBytes(pack ? [head, pack] : [head]) as Uint8Array<ArrayBuffer>;
}

/** Pushes a pack and creates `ref`. */
export const push = (
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  oid: string,
  pack: Uint8Array,
  ref = "refs/heads/main",
): Promise<Answer> => pushCommands(as, repo, [{ ref, new: oid }], { pack });

/** The request of `push`, to be sent by other means. */
export function pushRequest(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  oid: string,
  pack: Uint8Array,
  ref: string,
): Request {
  const headers = { ...HEADERS, Authorization: `token ${as.token}` };
  const body = pushBody([{ ref, new: oid }], { pack });
  return new Request(`http://x${pathOf(repo)}`, { method: "POST", headers, body });
}

export const refsOf = async (repo: RepositoryLocation) =>
  (await env.REPOSITORY.getByName(repo.objectName).snapshot()).refs;

/** Keys of all stored files of a network. */
export const filesOf = async (repo: RepositoryLocation) =>
  (await env.PACKS.list({ prefix: networkPrefix(repo.networkName) })).objects.map(({ key }) => key);

/** Stores a pack and creates a ref, without the HTTP service. */
export const storePush = (
  repo: TestRepo,
  ref: string,
  oid: string,
  pack: Uint8Array,
  peeledOid: string | null = null,
): Promise<void> => storeRefs(repo, [{ ref, oid, peeledOid }], pack);

/**
 * Stores a pack and creates refs to its objects in one push, without the HTTP service.
 *
 * @param ofWiki Whether to that of the repository's wiki, of which nothing is announced;
 *   `unrecorded` as if the Worker died once the refs were updated.
 */
export async function storeRefs(
  repo: TestRepo,
  refs: readonly { ref: string; oid: string; peeledOid?: string | null }[],
  pack: Uint8Array,
  ofWiki: boolean | "unrecorded" = false,
): Promise<void> {
  const stored = git.repository(ofWiki ? wikiLocation(repo) : repo);
  const { uploadId, snapshot } = await stored.beginUpload(Date.now());
  const receiver = stored.receivePack(uploadId, DEFAULT_PACK_LIMITS);
  await receiver.write(pack);
  const received = await receiver.finish(await stored.open(snapshot), snapshot);
  if (!received) throw new Error("the pack is empty");
  const updates = refs.map(({ ref, oid, peeledOid = null }) => ({
    ref,
    oldOid: null,
    newOid: oid,
    peeledOid,
  }));
  const { summary, entry: journalEntry } = await stored.commitPush({
    id: crypto.randomUUID(),
    actorId: repo.ownerId,
    isConfined: false,
    at: Date.now(),
    rootUrl: "",
    uploadId,
    packs: [received.record],
    updates,
    requiredRefs: [],
    visibility: { visibility: "public", isPrivate: false },
    isAtomic: true,
    defaultBranch: repo.defaultBranch,
  });
  if (!journalEntry) throw new Error(`the push was refused: ${JSON.stringify(summary)}`);
  if (ofWiki === "unrecorded") return;
  if (ofWiki) {
    const open = async () => stored.open(await stored.snapshot());
    const ctx = systemCtx({}, Date.now());
    await recordWikiPush(
      ctx,
      repo,
      { ...journalEntry, origin: "import" },
      summary,
      [updates],
      open,
    );
    await stored.settle(journalEntry.pushId);
    return;
  }
  const findNoCommits = () => Promise.resolve(new Map());
  await recordPush(
    systemCtx({}, Date.now()),
    repo,
    journalEntry,
    summary,
    [updates],
    findNoCommits,
  );
  await stored.settle(journalEntry.pushId);
}
