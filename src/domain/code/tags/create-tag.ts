import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { encodeText, encodeUtf8 } from "../../../git/byte-text.ts";
import { stripSpace } from "../../../git/object/strip-space.ts";
import { formatTag } from "../../../git/object/tag.ts";
import { findMisleading, isRefName } from "../../../git/ref-name.ts";
import { joinBytes } from "../../../git/wire/pkt-line.ts";
import { conflict, type Failure, invalid, invalidField } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { TagEntry } from "../../../shapes/git/tag.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { REF_NAME_RULE } from "../branches/branch-name.ts";
import { commitChange, type SnapshotDraft } from "../git/commit-change.ts";
import { findRevision } from "../git/find-revision.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { updateRefs } from "../git/update-refs.ts";
import { type RepositorySnapshot, findRef, openSnapshot } from "../git/open-snapshot.ts";
import { hasRefClash } from "../git/ref-clash.ts";
import { requireWritable } from "../git/require-writable.ts";
import { rewordRefusal } from "../protections/ref-refusal.ts";
import { signAsService } from "../signatures/sign-as-service.ts";
import { readTag, tagRef } from "./list-tags.ts";

/** The input for a new tag. */
export interface NewTag {
  name: string;
  /** If not empty, the tag is annotated: it gets its own object with the tagger. */
  message: string;
  /** The branch, tag or commit to tag; the default branch if undefined or empty. */
  target: string | undefined;
}

/** @throws Failure `invalid` for a name that no tag can have. */
export function requireTagName(name: string): void {
  const refName = encodeText(tagRef(name));
  const isValidName = name.isWellFormed() && isRefName(refName) && !findMisleading(refName);
  if (!isValidName) throw invalidField("tag_name", REF_NAME_RULE);
}

/**
 * Tags a commit.
 *
 * @param opened A snapshot of the repository, if one is open already.
 * @param protectedFailure The refusal of a name that a rule keeps from the caller.
 * @throws Failure `invalid` for an invalid name or message and for a protected tag, `not_found` if
 * the target does not exist, `conflict` if the name is taken or clashes with another ref.
 */
export async function createTag(
  ctx: Ctx,
  repo: RepositoryContext,
  tagger: User,
  { name, message, target }: NewTag,
  {
    opened,
    protectedFailure = () => invalid("user not allowed to create protected tag"),
  }: { opened?: RepositorySnapshot; protectedFailure?: () => Failure } = {},
): Promise<TagEntry> {
  requireWritable(repo);
  requireTagName(name);
  const ref = tagRef(name);
  if (message.includes("\0")) throw invalidField("message", "must not contain NUL");
  const text = stripSpace(encodeText(message));
  if (text === "") {
    const snapshot = opened ?? (await openSnapshot(ctx, repo));
    const commitOid = await findTarget(snapshot, repo, name, target);
    const tag = await readTag(snapshot, { name: encodeText(ref), oid: commitOid, peeledOid: null });
    await rewordRefusal(
      updateRefs(ctx, repo, snapshot, [{ ref, to: commitOid }]),
      protectedFailure,
    );
    return tag;
  }
  const makeChange = async ({ snapshot, pack }: SnapshotDraft) => {
    const commitOid = await findTarget(snapshot, repo, name, target);
    const identity = toIdentity(ctx, tagger);
    const fields = { targetOid: commitOid, targetKind: "commit", name: encodeText(name) } as const;
    const plain = formatTag({ ...fields, tagger: identity, message: text });
    const making = { operation: "tag", identities: [identity], people: [tagger] } as const;
    const signature = await signAsService(ctx, plain, making);
    const content = signature ? joinBytes([plain, encodeUtf8(`${signature}\n`)]) : plain;
    const oid = pack.add("tag", content);
    const { timeSeconds } = identity;
    return {
      updates: [{ ref, to: oid }],
      tag: { name, oid, commitOid, message: text, timeSeconds },
    };
  };
  const { result } = await rewordRefusal(commitChange(ctx, repo, makeChange), protectedFailure);
  return result.tag;
}

/** Finds the commit to tag and checks that the tag's name is free. */
async function findTarget(
  snapshot: RepositorySnapshot,
  repo: RepositoryContext,
  name: string,
  target: string | undefined,
) {
  const revision = await findRevision(snapshot, target || `refs/heads/${repo.row.defaultBranch}`);
  if (!revision) throw noSuchRef(snapshot, `target not found: ${target}`);
  const ref = tagRef(name);
  if (findRef(snapshot, ref)) throw conflict(`tag already exists [name: ${name}]`);
  if (hasRefClash(snapshot, ref)) throw conflict(`tag clashes with another [name: ${name}]`);
  return revision.commitOid;
}
