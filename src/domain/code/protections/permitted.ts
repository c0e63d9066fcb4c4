import type { Allowed, BranchProtection, ProtectionSettings } from "../../../db/schema/index.ts";
import type { Ctx } from "../../../context.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";

/** A user with their teams in the organization of the repository. */
export interface RuleSubject {
  readonly userId: number | undefined;
  readonly teamIds: readonly number[];
}

export const callerOf = ({ actor }: Ctx, { callerTeamIds }: RepositoryRules): RuleSubject => ({
  userId: actor.user?.id,
  teamIds: callerTeamIds,
});

/** Whether a user is on a list, by name or by a team. */
export const isListed = (
  list: Pick<Allowed, "userIds" | "teamIds">,
  { userId, teamIds }: RuleSubject,
): boolean =>
  (userId !== undefined && list.userIds.includes(userId)) ||
  teamIds.some((id) => list.teamIds.includes(id));

const isAmong = (allowed: Allowed, who: RuleSubject): boolean =>
  !allowed.isRestricted || isListed(allowed, who);

// Whether a rule lets somebody do it who may write the code.

export const mayPush = ({ isPushEnabled, push }: ProtectionSettings, who: RuleSubject): boolean =>
  isPushEnabled && isAmong(push, who);

export const mayForcePush = (settings: ProtectionSettings, who: RuleSubject): boolean =>
  settings.isForcePushEnabled && isAmong(settings.forcePush, who) && mayPush(settings, who);

export const mayMerge = ({ merge }: ProtectionSettings, who: RuleSubject): boolean =>
  isAmong(merge, who);

/** Whether a rule follows a branch that is renamed: a repository's own for this one branch. */
export const followsRename = (
  { repoId, name }: Pick<BranchProtection, "repoId" | "name">,
  branch: string,
): boolean => repoId !== null && name.toLowerCase() === branch.toLowerCase();
