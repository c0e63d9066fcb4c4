import { findMember } from "../../../domain/people/orgs/find-member.ts";
import { removeMember, setMembershipVisibility } from "../../../domain/people/orgs/team-members.ts";
import { notFound } from "../../../lib/failure.ts";
import type { OrganizationSettingsPage as Page, OrganizationSettingsPart } from "./page.tsx";

const NAME_MAX = 40;

const membersPath = ({ account }: Page): string => `/org/${account.name}/members`;

/** What the forms of the page of members ask for. */
export const memberActions: OrganizationSettingsPart = {
  path: "/org/:org/members/action",
  actions: {
    async remove(page, form) {
      const { ctx, account } = page;
      const member = await findMember(ctx, account, form.line("member", NAME_MAX));
      if (!member) throw notFound();
      await removeMember(ctx, account, member.user);
      return membersPath(page);
    },
    async leave({ ctx, account, user }) {
      await removeMember(ctx, account, user);
      return "/";
    },
    async public(page) {
      await setMembershipVisibility(page.ctx, page.account, page.user, true);
      return membersPath(page);
    },
    async private(page) {
      await setMembershipVisibility(page.ctx, page.account, page.user, false);
      return membersPath(page);
    },
  },
  roles: { leave: "member", public: "member", private: "member" },
};
