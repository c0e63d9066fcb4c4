import { openOwnPage } from "../open-page.ts";
import { actionsParts } from "../owner-settings/actions-parts.ts";
import { openParts, type SettingsPage } from "../owner-settings/settings-part.ts";
import { renderSettings, type SettingsPartName } from "./settings-page.tsx";

const PATH = "/user/settings";

/** What Actions get from the reader's account, for all of its repositories. */
export const ownActions = openParts(
  actionsParts<SettingsPage>(PATH, ({ user }) => ({ level: "owner", owner: user })),
  async (c) => {
    const page = await openOwnPage(c);
    return {
      ...page,
      path: PATH,
      send: async (view, refusal) =>
        renderSettings(
          c,
          page,
          { part: view.link?.slice(1) as SettingsPartName, refusal, scripts: view.scripts ?? [] },
          <>
            <h2>{view.title}</h2>
            {view.body}
          </>,
        ),
    };
  },
);
