import { isAllowed } from "../../../auth/access/permission.ts";
import type { RepositoryExpiry } from "../../../db/schema/index.ts";
import { editRepository } from "../../../domain/repos/repository/edit-repository.ts";
import { EXPIRES_IN_MAX } from "../../../domain/repos/repository/expiry.ts";
import { invalidField } from "../../../lib/failure.ts";
import { Ago } from "../ago.tsx";
import { CheckField, SelectField } from "../create/fields.tsx";
import { Field } from "../layout.tsx";
import { ActionForm } from "../owner-settings/settings-frame.tsx";
import type { SettingsAction, SettingsForms } from "../owner-settings/settings-part.ts";
import type { RepositorySettingsPage as Page } from "./page.tsx";

const DAY_SECONDS = 24 * 60 * 60;
const DAYS_MAX = EXPIRES_IN_MAX / DAY_SECONDS;

const ACTIONS = [
  ["archive", "It is archived"],
  ["delete", "It is deleted"],
] as const satisfies readonly (readonly [RepositoryExpiry["action"], string])[];

/** The actions of the forms about the end of a repository. */
export const expiryActions = {
  async expiry({ ctx, repo, path }, form) {
    const days = form.line("days", 10);
    const count = Number(days);
    if (!/^\d+$/.test(days) || count < 1 || count > DAYS_MAX) {
      throw invalidField("days", `must be a whole number from 1 to ${DAYS_MAX}`);
    }
    const chosen = ACTIONS.find(([action]) => action === form.text("expiry_action"));
    if (!chosen) throw invalidField("expiry_action", "must be one of the choices");
    await editRepository(ctx, repo, {
      expiry: {
        expiresIn: count * DAY_SECONDS,
        action: chosen[0],
        extendsOnPush: form.isSet("extends_on_push"),
      },
    });
    return path;
  },
  async keep({ ctx, repo, path }) {
    await editRepository(ctx, repo, { expiry: { expiresIn: 0 } });
    return path;
  },
} satisfies Record<string, SettingsAction<Page>>;

/** The forms that give a repository an end, and take it away. */
export function ExpiryForms({ page, forms }: { page: Page; forms: SettingsForms }) {
  const { ctx, repo } = page;
  const { expiry, isMirror } = repo.row;
  const state = forms.of("expiry", { expiry_action: expiry?.action ?? "archive" });
  const options = ACTIONS.filter(([action]) =>
    action === "archive" ? !isMirror : isAllowed(repo, { mode: "owner" }),
  );
  return (
    <>
      <h4>End</h4>
      {expiry ? (
        <>
          <p>
            {expiry.action === "archive" ? "It will be archived " : "It will be deleted "}
            <Ago at={expiry.expiresAt} now={ctx.now} />
            {expiry.extensionMs === null ? "." : ". Each push puts that off."}
          </p>
          <ActionForm page={page} to={page.path} action="keep">
            <button type="submit">Keep it without an end</button>
          </ActionForm>
        </>
      ) : (
        <p>It has no end. With one, it is archived or deleted by itself.</p>
      )}
      {options.length === 0 ? undefined : (
        <ActionForm page={page} to={page.path} action="expiry">
          <Field label="Days from now" {...state.of("days")} inputmode="numeric" maxlength={10} />
          <SelectField state={state} label="At its end" name="expiry_action" options={options} />
          <CheckField
            state={state}
            label="Each push gives it the same time again"
            name="extends_on_push"
            isSetAtFirst={expiry !== null && expiry.extensionMs !== null}
          />
          <button type="submit" class="danger">
            {expiry ? "Change its end" : "Let it end"}
          </button>
        </ActionForm>
      )}
    </>
  );
}
