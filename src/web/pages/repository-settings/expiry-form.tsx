import { isAllowed } from "../../../auth/access/permission.ts";
import { editRepository } from "../../../domain/repos/repository/edit-repository.ts";
import { Ago } from "../ago.tsx";
import { EXPIRY_ACTIONS, ExpiryFields, readExpiry } from "../create/expiry-fields.tsx";
import { ActionForm } from "../owner-settings/settings-frame.tsx";
import type { SettingsAction, SettingsForms } from "../owner-settings/settings-part.ts";
import type { RepositorySettingsPage as Page } from "./page.tsx";

/** The actions of the forms about the end of a repository. */
export const expiryActions = {
  async expiry({ ctx, repo, path }, form) {
    await editRepository(ctx, repo, { expiry: readExpiry(form) });
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
  const options = EXPIRY_ACTIONS.filter(([action]) =>
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
          <ExpiryFields
            state={state}
            options={options}
            isExtended={expiry !== null && expiry.extensionMs !== null}
          />
          <button type="submit" class="danger">
            {expiry ? "Change its end" : "Let it end"}
          </button>
        </ActionForm>
      )}
    </>
  );
}
