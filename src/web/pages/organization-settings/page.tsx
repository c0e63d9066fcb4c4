import type { Context } from "hono";

import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { type AccountPage, enterOrganizationPage } from "../account/enter.ts";
import { renderAccount } from "../account/frame.tsx";
import { requireOwn } from "../open-page.ts";
import { ACTIONS_LINKS } from "../owner-settings/actions-links.ts";
import { SettingsFrame, type SettingsLinks } from "../owner-settings/settings-frame.tsx";
import type {
  EnterSettings,
  SettingsPage,
  SettingsPart,
  SettingsView,
} from "../owner-settings/settings-part.ts";
import type { Refusal } from "../or-refuse.ts";
import type { PageOptions } from "../render-page.tsx";

/** The path of the settings of an organization, as a pattern. */
export const ORG_SETTINGS = "/org/:org/settings";

/** The request of a page of an organization's settings. */
export type OrganizationSettingsPage = AccountPage & SettingsPage;

/** A page of an organization's settings. */
export type OrganizationSettingsPart = SettingsPart<OrganizationSettingsPage>;

const LINKS: SettingsLinks = {
  "": ["General", "organizations"],
  "/labels": ["Labels", "issues#labels"],
  "/rulesets": ["Rules for branches", "protection#rulesets-of-an-organization"],
  "/hooks": ["Webhooks", "webhooks#creating-a-webhook"],
  ...ACTIONS_LINKS,
  "/blocked_users": ["Blocked users", "access#blocks"],
  "/packages": ["Packages", "packages#cleanup-rules"],
};

/** The parts that the service has. */
const linksOf = ({ ctx }: AccountPage): SettingsLinks =>
  Object.fromEntries(
    Object.entries(LINKS).filter(([path]) => path !== "/packages" || ctx.config.packages.isOn),
  );

/** The path of the settings of an organization. */
export const organizationSettingsPath = ({ name }: { readonly name: string }): string =>
  `/org/${name}/settings`;

/** Sends a page of an organization's settings. */
export function renderOrganizationSettings(
  c: Context<WebEnv>,
  page: AccountPage,
  view: SettingsView,
  options: Partial<PageOptions>,
  refusal?: Refusal,
): Promise<Response> {
  const { account } = page;
  return renderAccount(
    c,
    page,
    {
      ...options,
      tab: view.link === undefined ? "teams" : "settings",
      title: `${view.title} - ${account.name}`,
    },
    <SettingsFrame
      path={organizationSettingsPath(account)}
      links={linksOf(page)}
      help="organizations#teams"
      view={view}
      refusal={refusal}
    />,
  );
}

/**
 * Enters the settings of the organization of a path, for those who own it.
 *
 * Cost: one round trip of the database.
 *
 * @throws Failure as `enterOrganizationPage`; `not_found` for everybody else.
 */
export const enterOrganizationSettings: EnterSettings<OrganizationSettingsPage> = async (
  c,
  { role },
) => {
  const page = await enterOrganizationPage(c);
  const own = requireOwn(c, page);
  const { account, membership } = page;
  if (!(role === "member" ? membership.isMember : membership.isOwner)) throw notFound();
  return {
    ...page,
    ...own,
    path: organizationSettingsPath(account),
    send: (view, refusal) => {
      const { scripts = [] } = view;
      return renderOrganizationSettings(
        c,
        page,
        view,
        { scripts, status: refusal?.status ?? 200 },
        refusal,
      );
    },
  };
};
