import { z } from "@hono/zod-openapi";

import { MERGE_STYLES, type Repository } from "../../db/schema/index.ts";
import type { MirrorEdit } from "../../domain/exchange/mirrors/pull/edit-mirror.ts";
import type { RepositoryEdit } from "../../domain/repos/repository/edit-repository.ts";
import { defined } from "../../lib/defined.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { EXPIRY_FIELDS, toExpiryInput } from "./expiry-fields.ts";

export const EditRepository = body({
  name: z.string().min(1).max(100).optional(),
  description: optionalText(2048),
  website: optionalText(1024),
  private: optionalFlag(),
  template: optionalFlag(),
  archived: optionalFlag(),
  default_branch: optionalText(100),
  has_code: optionalFlag(),
  has_issues: optionalFlag(),
  internal_tracker: z
    .object({
      enable_time_tracker: z.boolean(),
      allow_only_contributors_to_track_time: z.boolean(),
      enable_issue_dependencies: z.boolean(),
    })
    .partial()
    .optional(),
  external_tracker: z
    .object({
      external_tracker_url: z.string().max(1024),
      external_tracker_format: z.string().max(1024).default(""),
      external_tracker_style: z.enum(["numeric", "alphanumeric", "regexp", ""]).default("numeric"),
      external_tracker_regexp_pattern: z.string().max(255).default(""),
    })
    .optional(),
  has_wiki: optionalFlag(),
  external_wiki: z.object({ external_wiki_url: z.string().max(1024) }).optional(),
  has_pull_requests: optionalFlag(),
  has_projects: optionalFlag(),
  projects_mode: z.enum(["repo", "owner", "all"]).optional(),
  has_releases: optionalFlag(),
  has_packages: optionalFlag(),
  has_actions: optionalFlag(),
  ignore_whitespace_conflicts: optionalFlag(),
  allow_merge_commits: optionalFlag(),
  allow_rebase: optionalFlag(),
  allow_rebase_explicit: optionalFlag(),
  allow_squash_merge: optionalFlag(),
  allow_fast_forward_only_merge: optionalFlag(),
  allow_rebase_update: optionalFlag(),
  allow_manual_merge: optionalFlag(),
  autodetect_manual_merge: optionalFlag(),
  default_delete_branch_after_merge: optionalFlag(),
  default_merge_style: z.enum(MERGE_STYLES).optional(),
  default_allow_maintainer_edit: optionalFlag(),
  mirror_interval: optionalText(64).openapi({
    description: "Of a mirror: as Go writes durations, such as 8h0m0s; 0 for none",
  }),
  enable_prune: optionalFlag().openapi({
    description: "Of a mirror: delete what its remote has no more",
  }),
  mirror: optionalFlag().openapi({
    description: "`false` makes a mirror an ordinary repository",
  }),
  mirror_address: optionalText(4096).openapi({ description: "Of a mirror: its remote" }),
  mirror_username: optionalText(255),
  mirror_password: optionalText(4096),
  ...EXPIRY_FIELDS,
}).openapi("EditRepoOption");
type Sent = z.infer<typeof EditRepository>;

/** Converts a request body into an edit of the repository. */
export function toEdit(sent: Sent, repo: Repository): RepositoryEdit {
  return defined({
    name: sent.name,
    description: sent.description,
    website: sent.website,
    isPrivate: sent.private,
    isTemplate: sent.template,
    isArchived: sent.archived,
    expiry: toExpiryInput(sent),
    defaultBranch: sent.default_branch,
    hasCode: sent.has_code,
    hasIssues: sent.has_issues,
    hasPullRequests: sent.has_pull_requests,
    hasReleases: sent.has_releases,
    hasWiki: sent.has_wiki,
    hasProjects: sent.has_projects,
    hasPackages: sent.has_packages,
    hasActions: sent.has_actions,
    projectsMode: sent.projects_mode,
    externalWikiUrl: toWikiUrl(sent),
    issueSettings: toIssueSettings(sent),
    // Clients send pull request settings even if the unit is disabled; they are ignored then.
    pullSettings:
      (sent.has_pull_requests ?? repo.hasPullRequests) ? toPullSettings(sent) : undefined,
  });
}

/** The part of a request body that is about the mirror that the repository is. */
export const toMirrorEdit = (sent: Sent): MirrorEdit =>
  defined({
    isMirror: sent.mirror,
    interval: sent.mirror_interval,
    isPruned: sent.enable_prune,
    address: sent.mirror_address,
    username: sent.mirror_username,
    password: sent.mirror_password,
  });

function toPullSettings(sent: Sent): RepositoryEdit["pullSettings"] {
  const settings = defined({
    ignoreWhitespaceConflicts: sent.ignore_whitespace_conflicts,
    allowMergeCommits: sent.allow_merge_commits,
    allowRebase: sent.allow_rebase,
    allowRebaseExplicit: sent.allow_rebase_explicit,
    allowSquashMerge: sent.allow_squash_merge,
    allowFastForwardOnlyMerge: sent.allow_fast_forward_only_merge,
    allowRebaseUpdate: sent.allow_rebase_update,
    allowManualMerge: sent.allow_manual_merge,
    autodetectManualMerge: sent.autodetect_manual_merge,
    defaultDeleteBranchAfterMerge: sent.default_delete_branch_after_merge,
    defaultMergeStyle: sent.default_merge_style,
    defaultAllowMaintainerEdit: sent.default_allow_maintainer_edit,
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function toIssueSettings(sent: Sent): RepositoryEdit["issueSettings"] {
  const { external_tracker: external, internal_tracker: internal } = sent;
  if (external) {
    return {
      external: {
        url: external.external_tracker_url,
        format: external.external_tracker_format,
        style: external.external_tracker_style,
        regexpPattern: external.external_tracker_regexp_pattern,
      },
    };
  }
  if (!internal) return undefined;
  return {
    ...defined({
      enableTimeTracker: internal.enable_time_tracker,
      allowOnlyContributorsToTrackTime: internal.allow_only_contributors_to_track_time,
      enableIssueDependencies: internal.enable_issue_dependencies,
    }),
    external: null,
  };
}

/**
 * An external wiki replaces the internal wiki; enabling the wiki without a URL restores the
 * internal wiki.
 */
function toWikiUrl(sent: Sent): string | undefined {
  if (sent.external_wiki === undefined) return sent.has_wiki ? "" : undefined;
  return sent.external_wiki.external_wiki_url;
}
