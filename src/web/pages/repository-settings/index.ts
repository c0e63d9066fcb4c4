import { actionsParts } from "../owner-settings/actions-parts.ts";
import { hookParts } from "../owner-settings/hooks.tsx";
import { openParts } from "../owner-settings/settings-part.ts";
import { branches, branchRule } from "./branches.tsx";
import { collaboration } from "./collaboration.tsx";
import { general } from "./general.tsx";
import { deployKeys } from "./keys.tsx";
import { largeFiles, locks } from "./large-files.tsx";
import { mirrors } from "./mirrors.tsx";
import {
  enterRepositorySettings,
  type RepositorySettingsPage,
  type RepositorySettingsPart,
  SETTINGS,
} from "./page.tsx";
import { tagRule, tags } from "./tags.tsx";

/** The pages of a repository's settings. */
export const repositorySettingsParts: readonly RepositorySettingsPart[] = [
  general,
  collaboration,
  branches,
  branchRule,
  tags,
  tagRule,
  ...hookParts(SETTINGS, ({ repo }: RepositorySettingsPage) => ({
    hookOwner: { level: "repository", repo: repo.row },
    repo,
  })),
  ...actionsParts(SETTINGS, ({ repo }: RepositorySettingsPage) => ({
    level: "repository",
    repo: repo.row,
  })),
  deployKeys,
  mirrors,
  largeFiles,
  locks,
];

export const repositorySettings = [openParts(repositorySettingsParts, enterRepositorySettings)];
