import type { Context } from "hono";

import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { requireOwn } from "../open-page.ts";
import { ACTIONS_LINKS } from "../owner-settings/actions-links.ts";
import { SettingsFrame, type SettingsLinks } from "../owner-settings/settings-frame.tsx";
import type {
  EnterSettings,
  SettingsPage,
  SettingsPart,
  SettingsView,
} from "../owner-settings/settings-part.ts";
import { type EnteredRepository, enterRepositoryPage } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";

/** The path of the settings of a repository, as a pattern. */
export const SETTINGS = "/:owner/:repo/settings";

/** The request of a page of a repository's settings. */
export type RepositorySettingsPage = EnteredRepository & SettingsPage;

/** A page of a repository's settings. */
export type RepositorySettingsPart = SettingsPart<RepositorySettingsPage>;

const LINKS: SettingsLinks = {
  "": ["General", "pages#settings-of-a-repository"],
  "/collaboration": ["Collaborators", "access#collaborators"],
  "/branches": ["Branches", "protection#rules-for-branches"],
  "/tags": ["Tags", "protection#rules-for-tags"],
  "/hooks": ["Webhooks", "webhooks#creating-a-webhook"],
  ...ACTIONS_LINKS,
  "/keys": ["Deploy keys", "pages#settings-of-a-repository"],
  "/mirrors": ["Mirrors", "mirrors"],
  "/lfs": ["Large files", "git#large-files"],
};

/**
 * Enters the settings of the repository of a path, for those who administer it.
 *
 * Cost: one round trip of the database.
 *
 * @throws Failure as `enterRepositoryPage`; `not_found` for everybody else.
 */
export const enterRepositorySettings: EnterSettings<RepositorySettingsPage> = async (
  c,
  { role, action },
) => {
  const scopes = action === undefined ? [] : (["write:repository"] as const);
  const page = await enterRepositoryPage(
    c,
    { mode: role === "owner" ? "owner" : "admin" },
    scopes,
    {
      showsRules: /^\/(?:branches|tags)/.test(partOf(c)),
      whileMigrating: action === "delete",
    },
  );
  const { repo } = page;
  const path = `${repositoryPath(repo)}/settings`;
  return {
    ...page,
    ...requireOwn(c, page),
    path,
    send: async (view: SettingsView, refusal) => {
      const { title, scripts = [] } = view;
      return renderRepository(
        c,
        page,
        {
          tab: "settings",
          title: `${title} - Settings of ${repo.owner.name}/${repo.row.name}`,
          scripts,
          status: refusal?.status ?? 200,
        },
        <SettingsFrame path={path} links={LINKS} view={view} refusal={refusal} />,
      );
    },
  };
};

/** The path of a part below that of the settings. */
const partOf = (c: Context<WebEnv>): string => `/${c.req.path.split("/").slice(4).join("/")}`;
