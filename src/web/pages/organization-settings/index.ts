import { actionsParts } from "../owner-settings/actions-parts.ts";
import { hookParts } from "../owner-settings/hooks.tsx";
import { openParts } from "../owner-settings/settings-part.ts";
import { blockedUsers } from "./blocked-users.tsx";
import { general } from "./general.tsx";
import { memberActions } from "./members.ts";
import {
  enterOrganizationSettings,
  ORG_SETTINGS,
  type OrganizationSettingsPage,
  type OrganizationSettingsPart,
} from "./page.tsx";
import { newRuleset, ruleset, rulesets } from "./rulesets.tsx";
import { editedTeam, newTeam } from "./teams.tsx";

/** The pages of an organization's settings and teams. */
export const organizationSettingsParts: readonly OrganizationSettingsPart[] = [
  general,
  rulesets,
  newRuleset,
  ruleset,
  ...hookParts(ORG_SETTINGS, ({ account }: OrganizationSettingsPage) => ({
    hookOwner: { level: "organization", owner: account },
  })),
  ...actionsParts(ORG_SETTINGS, ({ account }: OrganizationSettingsPage) => ({
    level: "owner",
    owner: account,
  })),
  blockedUsers,
  memberActions,
  newTeam,
  editedTeam,
];

export const organizationSettings = [
  openParts(organizationSettingsParts, enterOrganizationSettings),
];
