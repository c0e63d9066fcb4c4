import { z } from "@hono/zod-openapi";

import {
  ACCESS,
  EXPIRY_ACTIONS,
  PROJECT_PARTS,
  type PullSettings,
  type Repository as RepositoryRow,
  type RepositoryOrigin,
  type RepositoryPermission,
  type User as UserRow,
} from "../../db/schema/index.ts";
import { formatGoDuration } from "../../lib/go-duration.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { apiUrlOf, htmlUrlOf, repositoryAvatarUrlOf } from "../urls.ts";
import type { RepositoryRules } from "./repository-rules.ts";
import { RepoTransfer, toRepoTransfer, type PendingTransfer } from "./repo-transfer.ts";

const Permission = z
  .object({ admin: z.boolean(), push: z.boolean(), pull: z.boolean() })
  .openapi("Permission");

const InternalTracker = z
  .object({
    enable_time_tracker: z.boolean(),
    allow_only_contributors_to_track_time: z.boolean(),
    enable_issue_dependencies: z.boolean(),
  })
  .openapi("InternalTracker");

const ExternalTracker = z
  .object({
    external_tracker_url: z.string(),
    external_tracker_format: z.string(),
    external_tracker_style: z.string(),
    external_tracker_regexp_pattern: z.string(),
  })
  .openapi("ExternalTracker");

const ExternalWiki = z.object({ external_wiki_url: z.string() }).openapi("ExternalWiki");

const MirrorStatus = z
  .object({
    state: z.enum(["ok", "failing", "paused"]),
    last_error: z.string().openapi({ description: "For those who may write to the repository" }),
    failing_since: Time.nullable(),
    next_attempt_at: Time.nullable().openapi({ description: "Of a mirror that fails" }),
    parts: z.array(z.enum(PROJECT_PARTS)).openapi({
      description: "What follows the remote besides git, and is changed there alone",
    }),
  })
  .openapi("MirrorStatus");

const RepositoryFields = z.object({
  id: Int64,
  owner: User,
  name: z.string(),
  full_name: z.string().openapi({ example: "alice/project" }),
  description: z.string(),
  empty: z.boolean(),
  private: z.boolean(),
  fork: z.boolean(),
  template: z.boolean(),
  mirror: z.boolean(),
  size: Int64.openapi({ description: "In KiB" }),
  language: z.string(),
  languages_url: z.string(),
  html_url: z.string().openapi({ format: "uri" }),
  url: z.string().openapi({ format: "uri" }),
  link: z.string(),
  ssh_url: z.string(),
  clone_url: z.string().openapi({ format: "uri" }),
  original_url: z.string(),
  website: z.string(),
  stars_count: Int64,
  forks_count: Int64,
  watchers_count: Int64,
  open_issues_count: Int64,
  open_pr_counter: Int64,
  release_counter: Int64,
  default_branch: z.string(),
  archived: z.boolean(),
  created_at: Time,
  updated_at: Time,
  archived_at: Time,
  expires_at: Time.nullable().openapi({ description: "When it ends; null if it does not" }),
  /** Of one that ends. */
  expiry_action: z.enum(EXPIRY_ACTIONS).optional(),
  extends_on_push: z.boolean().optional(),
  permissions: Permission,
  has_code: z.boolean(),
  has_issues: z.boolean(),
  internal_tracker: InternalTracker.optional(),
  external_tracker: ExternalTracker.optional(),
  has_wiki: z.boolean(),
  external_wiki: ExternalWiki.optional(),
  has_pull_requests: z.boolean(),
  has_projects: z.boolean(),
  projects_mode: z.enum(["repo", "owner", "all"]),
  has_releases: z.boolean(),
  has_packages: z.boolean(),
  has_actions: z.boolean(),
  ignore_whitespace_conflicts: z.boolean(),
  allow_merge_commits: z.boolean(),
  allow_rebase: z.boolean(),
  allow_rebase_explicit: z.boolean(),
  allow_squash_merge: z.boolean(),
  allow_fast_forward_only_merge: z.boolean(),
  allow_rebase_update: z.boolean(),
  allow_manual_merge: z.boolean(),
  autodetect_manual_merge: z.boolean(),
  default_delete_branch_after_merge: z.boolean(),
  default_merge_style: z.string(),
  default_allow_maintainer_edit: z.boolean(),
  avatar_url: z.string(),
  internal: z.boolean(),
  mirror_interval: z.string(),
  mirror_updated: Time,
  /** Of a mirror. */
  mirror_status: MirrorStatus.optional(),
  /** While it is being migrated, and if that has not come to its end. */
  migration: z.enum(["running", "waiting", "failed", "cancelled"]).optional(),
  object_format_name: z.enum(["sha1", "sha256"]),
  topics: z.array(z.string()),
  licenses: z.array(z.string()),
});

export const Repository = RepositoryFields.extend({
  /** The repository that this one was forked from. */
  parent: RepositoryFields.optional(),
  /** The transfer that its recipient has not accepted yet. */
  repo_transfer: RepoTransfer.optional(),
}).openapi("Repository");
export type Repository = z.infer<typeof Repository>;

/** A repository as queries return it, with the viewer's permission. */
export interface RepositoryContext {
  row: RepositoryRow;
  owner: UserRow;
  permission: RepositoryPermission;
  /** Whether the row describes the repository's wiki as code: see `toWiki`. */
  isWiki?: true | undefined;
  /** The repository it was forked from; undefined if there is none, or it was not queried. */
  parent?: RepositoryContext | undefined;
  /** To whom a pending transfer offers it; undefined if that was not queried. */
  pendingTransferTo?: "caller" | "other" | null | undefined;
  /** The rules of its branches and tags; undefined if they were not queried. */
  rules?: RepositoryRules | undefined;
  /**
   * Its pending transfer; undefined if there is none, if the viewer may not know, or if it was not
   * queried.
   */
  transfer?: PendingTransfer | undefined;
}

/** Formats a repository for `viewer`. */
export function toRepository(repo: RepositoryContext, viewer: Viewer): Repository {
  const { parent } = repo;
  // SECURITY: access to a fork does not imply access to its parent.
  const isShown = parent !== undefined && parent.permission.mode !== ACCESS.none;
  return {
    ...toRepositoryFields(repo, viewer),
    ...(isShown && { parent: toRepositoryFields(parent, viewer) }),
    ...(repo.transfer && { repo_transfer: toRepoTransfer(repo.transfer, viewer) }),
  };
}

function toRepositoryFields(
  { row, owner, permission }: RepositoryContext,
  viewer: Viewer,
): z.infer<typeof RepositoryFields> {
  const fullName = `${owner.name}/${row.name}`;
  const htmlUrl = htmlUrlOf({ row, owner }, viewer);
  const apiUrl = apiUrlOf({ row, owner }, viewer);
  return {
    id: row.id,
    owner: toUser(owner, viewer),
    name: row.name,
    full_name: fullName,
    description: row.description,
    empty: row.isEmpty,
    private: row.isPrivate,
    fork: row.isFork,
    template: row.isTemplate,
    mirror: row.isMirror,
    size: Math.ceil((row.sizeBytes + row.lfsSizeBytes) / 1024),
    language: row.language,
    languages_url: `${apiUrl}/languages`,
    html_url: htmlUrl,
    url: apiUrl,
    link: "",
    ssh_url: `git@${new URL(viewer.rootUrl).hostname}:${fullName}.git`,
    clone_url: `${htmlUrl}.git`,
    original_url: row.origin?.url ?? "",
    website: row.website,
    stars_count: row.starCount,
    forks_count: row.forkCount,
    watchers_count: row.watcherCount,
    open_issues_count: row.openIssueCount,
    open_pr_counter: row.openPullCount,
    release_counter: row.releaseCount,
    default_branch: row.defaultBranch,
    archived: row.archivedAt !== null,
    created_at: formatTime(row.createdAt),
    updated_at: formatTime(row.updatedAt),
    archived_at: row.archivedAt === null ? NEVER : formatTime(row.archivedAt),
    ...toExpiry(row.expiry),
    permissions: toPermission(permission),
    ...toUnits(row),
    ...toPullSettings(row.isMirror ? MIRROR_PULL_SETTINGS : row.pullSettings),
    avatar_url: repositoryAvatarUrlOf(row, viewer),
    internal: !row.isPrivate && owner.visibility === "private",
    ...toMirror(row.origin?.mirror, permission),
    ...(row.origin?.import && { migration: row.origin.import }),
    object_format_name: "sha1",
    topics: row.topics,
    licenses: row.licenses,
  };
}

const toExpiry = (expiry: RepositoryRow["expiry"]) =>
  expiry
    ? {
        expires_at: formatTime(expiry.expiresAt),
        expiry_action: expiry.action,
        extends_on_push: expiry.extensionMs !== null,
      }
    : { expires_at: null };

/** As Gitea shows a mirror, which has no pull requests. */
const MIRROR_PULL_SETTINGS: PullSettings = {
  ignoreWhitespaceConflicts: false,
  allowMergeCommits: false,
  allowRebase: false,
  allowRebaseExplicit: false,
  allowSquashMerge: false,
  allowFastForwardOnlyMerge: false,
  allowRebaseUpdate: false,
  allowManualMerge: true,
  autodetectManualMerge: false,
  defaultDeleteBranchAfterMerge: false,
  defaultMergeStyle: "merge",
  defaultAllowMaintainerEdit: false,
};

function toMirror(
  mirror: RepositoryOrigin["mirror"],
  { units }: RepositoryPermission,
): Pick<z.infer<typeof RepositoryFields>, "mirror_interval" | "mirror_updated" | "mirror_status"> {
  if (!mirror) return { mirror_interval: "", mirror_updated: NEVER };
  const { failure, syncedAt } = mirror;
  return {
    mirror_interval: formatGoDuration(mirror.intervalSeconds),
    mirror_updated: syncedAt === null ? NEVER : formatTime(syncedAt),
    mirror_status: {
      state: failure ? (failure.isPaused ? "paused" : "failing") : "ok",
      last_error: units.code >= ACCESS.write ? (failure?.reason ?? "") : "",
      failing_since: failure ? formatTime(failure.since) : null,
      next_attempt_at: failure?.nextAt ? formatTime(failure.nextAt) : null,
      parts: mirror.parts,
    },
  };
}

const toPermission = ({ mode, units }: RepositoryPermission): z.infer<typeof Permission> => ({
  admin: mode >= ACCESS.admin,
  push: units.code >= ACCESS.write,
  pull: units.code >= ACCESS.read,
});

function toUnits(repo: RepositoryRow) {
  const { external, ...tracker } = repo.issueSettings;
  return {
    has_code: repo.hasCode,
    has_issues: repo.hasIssues,
    ...(repo.hasIssues && !external && { internal_tracker: toInternalTracker(tracker) }),
    ...(repo.hasIssues &&
      external && {
        external_tracker: {
          external_tracker_url: external.url,
          external_tracker_format: external.format,
          external_tracker_style: external.style,
          external_tracker_regexp_pattern: external.regexpPattern,
        },
      }),
    has_wiki: repo.hasWiki,
    ...(repo.hasWiki &&
      repo.externalWikiUrl !== "" && {
        external_wiki: { external_wiki_url: repo.externalWikiUrl },
      }),
    has_pull_requests: repo.hasPullRequests,
    has_projects: repo.hasProjects,
    projects_mode: repo.projectsMode,
    has_releases: repo.hasReleases,
    has_packages: repo.hasPackages,
    has_actions: repo.hasActions,
  };
}

const toInternalTracker = (tracker: Omit<RepositoryRow["issueSettings"], "external">) => ({
  enable_time_tracker: tracker.enableTimeTracker,
  allow_only_contributors_to_track_time: tracker.allowOnlyContributorsToTrackTime,
  enable_issue_dependencies: tracker.enableIssueDependencies,
});

const toPullSettings = (settings: RepositoryRow["pullSettings"]) => ({
  ignore_whitespace_conflicts: settings.ignoreWhitespaceConflicts,
  allow_merge_commits: settings.allowMergeCommits,
  allow_rebase: settings.allowRebase,
  allow_rebase_explicit: settings.allowRebaseExplicit,
  allow_squash_merge: settings.allowSquashMerge,
  allow_fast_forward_only_merge: settings.allowFastForwardOnlyMerge,
  allow_rebase_update: settings.allowRebaseUpdate,
  allow_manual_merge: settings.allowManualMerge,
  autodetect_manual_merge: settings.autodetectManualMerge,
  default_delete_branch_after_merge: settings.defaultDeleteBranchAfterMerge,
  default_merge_style: settings.defaultMergeStyle,
  default_allow_maintainer_edit: settings.defaultAllowMaintainerEdit,
});
