import type { ByteText } from "../../../git/byte-text.ts";
import { findMisleading } from "../../../git/ref-name.ts";
import type { Oid } from "../../../git/oid.ts";
import { findMisnomer } from "../../code/git/push-refs.ts";
import type { RemoteRefs } from "./remote-repository.ts";

/** A ref that is not taken over, or not deleted. */
export interface SkippedRef {
  readonly ref: ByteText;
  readonly reason: string;
}

/** The refs of a remote that are to be here, by their names here. */
export interface ChosenRefs {
  readonly oids: ReadonlyMap<ByteText, Oid>;
  /** Names here of refs that the remote has and that are skipped: they are not pruned either. */
  readonly kept: ReadonlySet<ByteText>;
  readonly skipped: readonly SkippedRef[];
  /** The branch here that the remote's HEAD names, which may not exist. */
  readonly headTarget: ByteText | undefined;
}

const HEADS = "refs/heads/";

/**
 * Chooses the refs of a remote, and what they are called here. A name that no ref may have is
 * skipped: one odd ref must not keep a mirror from all others.
 */
export function chooseRefs(
  { refs, headTarget }: RemoteRefs,
  nameOf: (name: ByteText) => ByteText | undefined,
): ChosenRefs {
  const oids = new Map<ByteText, Oid>();
  const kept = new Set<ByteText>();
  const skipped: SkippedRef[] = [];
  for (const { name, oid } of refs) {
    const ref = nameOf(name);
    if (ref === undefined) continue;
    const reason =
      findMisnomer(name) ?? findRefusal(ref) ?? (oids.has(ref) ? "listed twice" : undefined);
    if (reason === undefined) {
      oids.set(ref, oid);
      continue;
    }
    skipped.push({ ref: name, reason });
    kept.add(ref);
  }
  const target = headTarget === undefined ? undefined : nameOf(headTarget);
  const isBranch = target?.startsWith(HEADS) === true && findRefusal(target) === undefined;
  return { oids, kept, skipped, headTarget: isBranch ? target : undefined };
}

const findRefusal = (ref: ByteText): string | undefined => findMisnomer(ref) ?? findMisleading(ref);

/** Where HEAD is to move, by full names of branches. */
interface ChosenHead {
  readonly from: ByteText;
  readonly to: ByteText;
  /** Whether the branch is one of the remote's. */
  readonly isBorn: boolean;
}

/**
 * Chooses the branch that HEAD names: the branch of the remote's HEAD if it exists, then the
 * present one, then the usual ones. If the remote has no branches, HEAD names the same branch as
 * there.
 *
 * @param head          The branch that HEAD names here; null before the first push.
 * @param defaultBranch The short name of the branch that HEAD is to name before the first push.
 */
export function chooseHead(
  { oids, headTarget }: ChosenRefs,
  head: string | null,
  defaultBranch: ByteText,
): ChosenHead {
  const from = (head ?? `${HEADS}${defaultBranch}`) as ByteText;
  const usual = [headTarget, from, `${HEADS}main`, `${HEADS}master`] as (ByteText | undefined)[];
  const born =
    usual.find((name) => name !== undefined && oids.has(name)) ??
    [...oids.keys()].find((name) => name.startsWith(HEADS));
  return { from, to: born ?? headTarget ?? from, isBorn: born !== undefined };
}
