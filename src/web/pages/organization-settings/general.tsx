import type { Visibility } from "../../../db/schema/index.ts";
import { deleteOrganization } from "../../../domain/operations/deletions/delete-organization.ts";
import { renameAccount } from "../../../domain/people/accounts/rename-account.ts";
import { editOrganization } from "../../../domain/people/orgs/edit-organization.ts";
import { invalidField } from "../../../lib/failure.ts";
import { avatarPath } from "../avatar.tsx";
import { CheckField, ChoiceField } from "../create/fields.tsx";
import {
  ORGANIZATION_CHARS_MAX as CHARS_MAX,
  ORGANIZATION_VISIBILITIES,
} from "../create/organization.tsx";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { AvatarForm, avatarActions } from "../owner-settings/avatar-form.tsx";
import { ActionForm } from "../owner-settings/settings-frame.tsx";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import {
  ORG_SETTINGS,
  type OrganizationSettingsPage as Page,
  type OrganizationSettingsPart,
  organizationSettingsPath,
} from "./page.tsx";

/** The general settings of an organization. */
export const general: OrganizationSettingsPart = {
  path: ORG_SETTINGS,
  show: async (page, forms) => ({
    title: "General",
    link: "",
    body: (
      <>
        <section class="card form" aria-labelledby="profile">
          <h3 id="profile">Profile</h3>
          <ProfileForm page={page} forms={forms} />
        </section>
        <AvatarForm
          page={page}
          state={forms.of("avatar")}
          avatar={avatarPath(page.account)}
          isUploaded={page.account.avatarHash !== ""}
        />
        <DangerZone page={page} forms={forms} />
      </>
    ),
  }),
  actions: {
    async update({ ctx, account, path }, form) {
      const visibility = form.text("visibility");
      const line = (name: Exclude<keyof typeof CHARS_MAX, "username">) =>
        form.line(name, CHARS_MAX[name]);
      const chosen = ORGANIZATION_VISIBILITIES.find(([each]) => each === visibility)?.[0];
      if (!chosen) throw invalidField("visibility", "must be one of the choices");
      await editOrganization(ctx, account, {
        fullName: line("full_name"),
        email: line("email"),
        description: line("description"),
        website: line("website"),
        location: line("location"),
        visibility: chosen satisfies Visibility,
        canRepoAdminChangeTeamAccess: form.isSet("repo_admin_change_team_access"),
      });
      return path;
    },
    ...avatarActions(({ account }: Page) => ({ kind: "account", account })),
    async rename({ ctx, account }, form) {
      requireName(account, form);
      const name = form.line("new_name", CHARS_MAX.username);
      await renameAccount(ctx, account, name);
      return organizationSettingsPath({ name });
    },
    async delete({ ctx, account }, form) {
      requireName(account, form);
      await deleteOrganization(ctx, account);
      return "/";
    },
  },
  fieldOf: (message) => {
    if (/exists|reserved/.test(message)) return "new_name";
    return /mail/i.test(message) ? "email" : undefined;
  },
};

/** @throws Failure `invalid` unless the name of the organization was typed. */
function requireName({ name }: Page["account"], form: Form): void {
  if (form.text("org_name").trim() !== name) {
    throw invalidField("org_name", "must be the name of the organization");
  }
}

interface PartProps {
  page: Page;
  forms: SettingsForms;
}

function ProfileForm({ page, forms }: PartProps) {
  const { account } = page;
  const state = forms.of("update", {
    full_name: account.fullName,
    email: account.email,
    description: account.description,
    website: account.website,
    location: account.location,
    visibility: account.visibility,
  });
  const field = (name: keyof typeof CHARS_MAX) => ({
    ...state.of(name),
    maxlength: CHARS_MAX[name],
    isOptional: true,
  });
  return (
    <ActionForm page={page} to={page.path} action="update">
      <Field label="Full name" {...field("full_name")} />
      <Field label="E-mail address" {...field("email")} type="email" />
      <Field label="Description" {...field("description")} />
      <Field label="Website" {...field("website")} />
      <Field label="Location" {...field("location")} />
      <ChoiceField
        state={state}
        legend="Visibility"
        name="visibility"
        options={ORGANIZATION_VISIBILITIES}
      />
      <CheckField
        state={state}
        label="Administrators of a repository choose its teams"
        name="repo_admin_change_team_access"
        isSetAtFirst={account.canRepoAdminChangeTeamAccess}
      />
      <button type="submit" class="primary">
        Save
      </button>
    </ActionForm>
  );
}

function DangerZone({ page, forms }: PartProps) {
  const nameField = (action: string) => (
    <Field
      label="Name of the organization"
      {...forms.of(action).of("org_name")}
      id={`${action}-name`}
      autocomplete="off"
      hint={`${page.account.name}, to confirm it.`}
    />
  );
  return (
    <section class="card form" aria-labelledby="danger">
      <h3 id="danger">Rename and delete</h3>
      <h4>Rename</h4>
      <p>The present name leads to the new one, until another account takes it.</p>
      <ActionForm page={page} to={page.path} action="rename">
        <Field
          label="New name"
          {...forms.of("rename").of("new_name")}
          maxlength={CHARS_MAX.username}
        />
        {nameField("rename")}
        <button type="submit" class="danger">
          Rename this organization
        </button>
      </ActionForm>
      <h4>Delete</h4>
      <p>Its teams and settings are deleted. It must own no repositories and packages any more.</p>
      <ActionForm page={page} to={page.path} action="delete">
        {nameField("delete")}
        <button type="submit" class="danger">
          Delete this organization
        </button>
      </ActionForm>
    </section>
  );
}
