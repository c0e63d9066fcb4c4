import { SITE_LEVELS } from "../../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { type HookGroup, hookParts } from "../owner-settings/hooks.tsx";
import { openParts, type SettingsPage } from "../owner-settings/settings-part.ts";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

const WORDS = {
  system: ["System webhooks", "They receive the events of all repositories."],
  default: ["Default webhooks", "They are copied to each new repository."],
} as const;

const GROUPS: readonly HookGroup[] = SITE_LEVELS.map((siteLevel) => ({
  path: `/${siteLevel}-hooks`,
  title: WORDS[siteLevel][0],
  about: WORDS[siteLevel][1],
  siteLevel,
}));

/** The webhooks of the service. */
export const siteHooks = openParts<SettingsPage>(
  hookParts(ADMIN_PATH, () => ({ hookOwner: { level: "site" } }), GROUPS),
  async (c) => {
    const page = await openAdminPage(c);
    return {
      ...page,
      path: ADMIN_PATH,
      send: ({ title, body, scripts = [] }, refusal) =>
        renderAdmin(
          c,
          page,
          { part: "hooks", title, refusal, scripts },
          <>
            <h2>{title}</h2>
            {body}
          </>,
        ),
    };
  },
);
