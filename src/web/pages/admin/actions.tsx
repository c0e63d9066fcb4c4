import { actionsParts } from "../owner-settings/actions-parts.ts";
import { openParts, type SettingsPage } from "../owner-settings/settings-part.ts";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

/** The variables of the service, and all its runners. */
export const actions = openParts(
  actionsParts<SettingsPage>(ADMIN_PATH, () => ({ level: "service" }), { hasSecrets: false }),
  async (c) => {
    const page = await openAdminPage(c);
    return {
      ...page,
      path: ADMIN_PATH,
      send: async (view, refusal) =>
        renderAdmin(
          c,
          page,
          {
            part: view.link === "/actions/runners" ? "runners" : "variables",
            title: view.title,
            refusal,
            scripts: view.scripts ?? [],
          },
          <>
            <h2>{view.title}</h2>
            {view.body}
          </>,
        ),
    };
  },
);
