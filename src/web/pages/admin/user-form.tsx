import type { User } from "../../../db/schema/index.ts";
import type { NewUser } from "../../../domain/people/accounts/create-user.ts";
import type { UserEdit } from "../../../domain/people/accounts/edit-user.ts";
import { conflict, invalidField } from "../../../lib/failure.ts";
import { CheckField, GeneralFault, SelectField, AreaField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { PROFILE_CHARS_MAX, USER_VISIBILITIES } from "../settings/profile.tsx";

/** Characters of the fields, as the API has them. */
const CHARS_MAX = { username: 40, email: 254, login_name: 255, ...PROFILE_CHARS_MAX } as const;

const FIELDS = [
  ...Object.keys(CHARS_MAX),
  "password",
  "created_at",
  "visibility",
  "max_repo_creation",
];

const line = (form: SentForm, name: keyof typeof CHARS_MAX): string =>
  form.line(name, CHARS_MAX[name]);

const readVisibility = (form: SentForm) => {
  const found = USER_VISIBILITIES.find(([each]) => each === form.text("visibility"));
  if (!found) throw invalidField("visibility", "must be one of the list");
  return found[0];
};

/** @throws Failure `invalid` for what the API refuses, too. */
export function readNewUser(form: SentForm): NewUser {
  const password = form.text("password");
  if (password === "") throw invalidField("password", "must not be empty");
  return {
    name: line(form, "username"),
    email: line(form, "email"),
    password,
    fullName: line(form, "full_name"),
    loginName: line(form, "login_name"),
    mustChangePassword: form.isSet("must_change_password"),
    isRestricted: form.isSet("restricted"),
    isNotified: form.isSet("send_notify"),
    visibility: readVisibility(form),
    createdAt: readCreation(form),
  };
}

/** @returns Midnight of the day, in UTC and milliseconds; undefined for now. */
function readCreation(form: SentForm): number | undefined {
  const day = form.text("created_at");
  if (day === "") return undefined;
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) throw invalidField("created_at", "must be a day");
  return at;
}

/** @throws Failure as `readNewUser`. */
export function readUserEdit(form: SentForm): UserEdit {
  const password = form.text("password");
  const repoCountMax = form.text("max_repo_creation").trim();
  if (!/^(?:-1|\d{1,9})$/.test(repoCountMax)) {
    throw invalidField("max_repo_creation", "must be a number, or -1 for that of the service");
  }
  return {
    email: line(form, "email"),
    ...(password === "" ? {} : { password }),
    fullName: line(form, "full_name"),
    loginName: line(form, "login_name"),
    website: line(form, "website"),
    location: line(form, "location"),
    description: line(form, "description"),
    visibility: readVisibility(form),
    isActive: form.isSet("active"),
    isAdmin: form.isSet("admin"),
    isLoginProhibited: form.isSet("prohibit_login"),
    isRestricted: form.isSet("restricted"),
    mustChangePassword: form.isSet("must_change_password"),
    canCreateOrganization: form.isSet("allow_create_organization"),
    repoCountMax: Number(repoCountMax),
  };
}

/**
 * Refuses an edit of a user that its sender has not seen as it is: rights that were taken away
 * meanwhile would come back.
 *
 * @throws Failure `conflict`.
 */
export function requireSeenUser({ updatedAt }: User, form: SentForm): void {
  if (form.text("updated_at") !== String(updatedAt)) {
    throw conflict("Somebody else has changed the user meanwhile: look at it, and save it again");
  }
}

/** What the form of a user shows at first. */
export const toUserFields = (user: User): Record<string, string> => ({
  email: user.email,
  full_name: user.fullName,
  login_name: user.loginName,
  website: user.website,
  location: user.location,
  description: user.description,
  visibility: user.visibility,
  max_repo_creation: String(user.repoCountMax),
});

/** The field that a refusal is about which names none. */
export function userFieldOf(message: string): string | undefined {
  if (message.startsWith("Password")) return "password";
  if (/e-mail/.test(message)) return "email";
  return /already exists|name/.test(message) ? "username" : undefined;
}

interface UserFormProps {
  action: string;
  formToken: string;
  passwordLengthMin: number;
  state: FormState;
  /** Undefined for a new one. */
  user?: User;
}

/** The form of a user, with all that the API sets. */
export function UserForm({ action, formToken, passwordLengthMin, state, user }: UserFormProps) {
  const field = (name: keyof typeof CHARS_MAX) => ({
    ...state.of(name),
    maxlength: CHARS_MAX[name],
    autocomplete: "off",
  });
  const check = (label: string, name: string, isSetAtFirst: boolean) => (
    <CheckField state={state} label={label} name={name} isSetAtFirst={isSetAtFirst} />
  );
  return (
    <>
      <GeneralFault state={state} fields={FIELDS} />
      <Form action={action} formToken={formToken}>
        {user ? (
          <input type="hidden" name="updated_at" value={String(user.updatedAt)} />
        ) : (
          <Field label="User name" {...field("username")} isFirst />
        )}
        <Field label="E-mail address" {...field("email")} type="email" />
        <Field
          label={user ? "New password" : "Password"}
          name="password"
          type="password"
          autocomplete="new-password"
          fault={state.of("password").fault}
          hint={`At least ${passwordLengthMin} characters${user ? "; empty for the one that there is" : ""}.`}
          isOptional={user !== undefined}
        />
        <Field label="Full name" {...field("full_name")} isOptional />
        <Field
          label="Name at the login source"
          {...field("login_name")}
          hint="For programs that ask for it: accounts sign in here."
          isOptional
        />
        <SelectField
          state={state}
          label="Who sees the account"
          name="visibility"
          options={USER_VISIBILITIES.map(([value, label]) => [
            value,
            label.replace("my organizations", "its organizations"),
          ])}
        />
        {user ? (
          <>
            <AreaField
              state={state}
              label="About the user"
              name="description"
              maxlength={CHARS_MAX.description}
              isOptional
            />
            <Field label="Location" {...field("location")} isOptional />
            <Field label="Website" {...field("website")} isOptional />
            <Field
              label="Repositories at most"
              {...state.of("max_repo_creation")}
              hint="-1 for the number of the service."
            />
          </>
        ) : (
          <Field
            label="Created on"
            {...state.of("created_at")}
            type="date"
            hint="For an account that is taken over from elsewhere; empty for today."
            isOptional
          />
        )}
        <fieldset>
          <legend>Rights</legend>
          {user ? (
            <>
              {check("Active: may sign in, and its tokens work", "active", user.isActive)}
              {check("Administrator of the service", "admin", user.isAdmin)}
              {check("Signing in is prohibited", "prohibit_login", user.isLoginProhibited)}
              {check(
                "May create organizations",
                "allow_create_organization",
                user.canCreateOrganization,
              )}
            </>
          ) : undefined}
          {check(
            "Restricted: sees only what it is a member of",
            "restricted",
            user?.isRestricted ?? false,
          )}
          {check(
            "Must change the password at the next sign-in",
            "must_change_password",
            user?.mustChangePassword ?? true,
          )}
          {user ? undefined : check("Tell the user by mail", "send_notify", false)}
        </fieldset>
        <button type="submit" class="primary">
          {user ? "Save" : "Create user"}
        </button>
      </Form>
    </>
  );
}
