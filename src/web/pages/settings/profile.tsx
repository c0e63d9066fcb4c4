import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { User, Visibility } from "../../../db/schema/index.ts";
import { editUser } from "../../../domain/people/accounts/edit-user.ts";
import { renameAccount } from "../../../domain/people/accounts/rename-account.ts";
import { deleteAvatar, setAvatar } from "../../../domain/people/avatars/change-avatar.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { ImageForm, readChosenImage, receiveAvatarForm } from "../avatar-form.tsx";
import { CheckField, GeneralFault, SelectField, AreaField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { requireOwnForm, type Form as SentForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { changeOwn } from "./change-own.ts";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings";

/** Who sees an account, with what it means for a user. */
export const USER_VISIBILITIES = [
  ["public", "Everybody"],
  ["limited", "People who are signed in"],
  ["private", "Nobody but members of my organizations and administrators"],
] as const satisfies readonly (readonly [Visibility, string])[];

/** Characters of the fields, as the API has them. */
export const PROFILE_CHARS_MAX = {
  full_name: 100,
  website: 255,
  location: 50,
  description: 255,
} as const;

/** What the reader's page shows of them, and to whom. */
export const profile = new Hono<WebEnv>({ router: new TrieRouter() });

profile.get(PATH, async (c) => renderProfile(c, await openOwnPage(c)));

profile.post(PATH, (c) =>
  changeOwn(
    c,
    async ({ ctx, user }, form) => {
      await editUser(ctx, user, readProfile(form));
      return PATH;
    },
    (page, state) => renderProfile(c, page, { profile: state }),
  ),
);

profile.post(`${PATH}/rename`, (c) =>
  changeOwn(
    c,
    async ({ ctx, user }, form) => {
      await renameAccount(ctx, user, form.line("new_username", 40));
      return PATH;
    },
    (page, state) => renderProfile(c, page, { name: state }),
  ),
);

profile.post(`${PATH}/avatar`, async (c) => {
  const { form, files } = await receiveAvatarForm(c);
  const page = await openOwnPage(c);
  await requireOwnForm(c, form);
  return orRefuse(
    c,
    async () => {
      const image = await readChosenImage(files);
      await setAvatar(page.ctx, { kind: "account", account: page.user }, image);
      return redirectAfterWrite(c, PATH);
    },
    (refusal) => renderProfile(c, page, { avatar: FormState.refused(form, refusal) }),
  );
});

profile.post(`${PATH}/avatar/delete`, (c) =>
  changeOwn(
    c,
    async ({ ctx, user }) => {
      await deleteAvatar(ctx, { kind: "account", account: user });
      return PATH;
    },
    (page, state) => renderProfile(c, page, { avatar: state }),
  ),
);

function readProfile(form: SentForm): Parameters<typeof editUser>[2] {
  const line = (name: keyof typeof PROFILE_CHARS_MAX) => form.line(name, PROFILE_CHARS_MAX[name]);
  const visibility = USER_VISIBILITIES.find(([each]) => each === form.text("visibility"))?.[0];
  if (visibility === undefined) throw invalidField("visibility", "must be one of the list");
  return {
    fullName: line("full_name"),
    website: line("website"),
    location: line("location"),
    description: line("description"),
    visibility,
    isEmailHidden: form.isSet("hide_email"),
    isActivityHidden: form.isSet("hide_activity"),
  };
}

const toFields = (user: User): Record<string, string> => ({
  full_name: user.fullName,
  website: user.website,
  location: user.location,
  description: user.description,
  visibility: user.visibility,
});

/** The forms of the page that were sent, each as it was refused. */
interface ProfileStates {
  profile?: FormState;
  name?: FormState;
  avatar?: FormState;
}

function renderProfile(c: Context<WebEnv>, page: OwnPage, states: ProfileStates = {}) {
  const { user, formToken } = page;
  const refused = states.profile ?? states.name ?? states.avatar;
  const { avatar: avatarState } = states;
  return renderSettings(
    c,
    page,
    { part: "profile", status: refused?.refusal?.status ?? 200 },
    <>
      <ProfileForm page={page} state={states.profile ?? FormState.fresh(toFields(user))} />
      <section class="card form" aria-labelledby="avatar">
        <h2 id="avatar">Avatar</h2>
        {avatarState ? <GeneralFault state={avatarState} fields={["image"]} /> : undefined}
        <p>
          <Avatar account={user} size={96} />
        </p>
        <ImageForm
          action={`${PATH}/avatar`}
          formToken={formToken}
          hasImage={user.avatarHash !== ""}
          fault={avatarState?.of("image").fault}
        />
      </section>
      <NameForm page={page} state={states.name ?? FormState.fresh({ new_username: user.name })} />
    </>,
  );
}

function ProfileForm({ page: { user, formToken }, state }: { page: OwnPage; state: FormState }) {
  const field = (name: keyof typeof PROFILE_CHARS_MAX) => ({
    ...state.of(name),
    maxlength: PROFILE_CHARS_MAX[name],
    isOptional: true,
  });
  return (
    <section class="card form" aria-labelledby="profile">
      <h2 id="profile">Profile</h2>
      <p>
        What <a href={accountPath(user)}>your page</a> shows.
      </p>
      <GeneralFault
        state={state}
        fields={["full_name", "website", "location", "description", "visibility"]}
      />
      <Form action={PATH} formToken={formToken}>
        <Field label="Full name" {...field("full_name")} autocomplete="name" />
        <AreaField
          state={state}
          label="About you"
          name="description"
          maxlength={PROFILE_CHARS_MAX.description}
          isOptional
        />
        <Field label="Location" {...field("location")} />
        <Field
          label="Website"
          {...field("website")}
          autocomplete="url"
          hint="It begins with http:// or https://."
        />
        <SelectField
          state={state}
          label="Who sees your account"
          name="visibility"
          options={USER_VISIBILITIES}
          hint="Nobody sees more of your repositories than of your account."
        />
        <CheckField
          state={state}
          label="Hide your e-mail address"
          name="hide_email"
          isSetAtFirst={user.isEmailHidden}
        />
        <CheckField
          state={state}
          label="Hide your activity"
          name="hide_activity"
          isSetAtFirst={user.isActivityHidden}
        />
        <button type="submit" class="primary">
          Save profile
        </button>
      </Form>
    </section>
  );
}

const NameForm = ({ page: { formToken }, state }: { page: OwnPage; state: FormState }) => (
  <section class="card form" aria-labelledby="user-name">
    <h2 id="user-name">User name</h2>
    <p>
      The addresses of your repositories change with it. The old ones lead to the new ones until
      somebody takes the old name.
    </p>
    <GeneralFault state={state} fields={["new_username"]} />
    <Form action={`${PATH}/rename`} formToken={formToken}>
      <Field
        label="User name"
        {...state.of("new_username")}
        autocomplete="username"
        maxlength={40}
      />
      <button type="submit">Change the name</button>
    </Form>
  </section>
);
