import { openOwnPage } from "../open-page.ts";
import { hookParts } from "../owner-settings/hooks.tsx";
import { openParts, type SettingsPage } from "../owner-settings/settings-part.ts";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings";

/** The webhooks of the reader's account, which receive the events of all of its repositories. */
export const ownHooks = openParts(
  hookParts<SettingsPage>(PATH, ({ user }) => ({ hookOwner: { level: "user", owner: user } })),
  async (c) => {
    const page = await openOwnPage(c);
    return {
      ...page,
      path: PATH,
      send: async (view, refusal) =>
        renderSettings(
          c,
          page,
          { part: "hooks", refusal, scripts: view.scripts ?? [] },
          <>
            {view.isHeaded ? undefined : <h2>{view.title}</h2>}
            {view.body}
          </>,
        ),
    };
  },
);
