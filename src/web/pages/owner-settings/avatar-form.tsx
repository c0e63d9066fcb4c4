import {
  deleteAvatar,
  setAvatar,
  type AvatarOwner,
} from "../../../domain/people/avatars/change-avatar.ts";
import { ImageField, readChosenImage } from "../avatar-form.tsx";
import type { FormState } from "../create/form-state.ts";
import { ActionForm } from "./settings-frame.tsx";
import type { SettingsAction, SettingsPage } from "./settings-part.ts";

/** The actions of the form for the avatar of an owner of settings. */
export const avatarActions = <P extends SettingsPage>(
  ownerOf: (page: P) => AvatarOwner,
): Readonly<Record<"avatar" | "delete_avatar", SettingsAction<P>>> => ({
  async avatar(page, _form, { files }) {
    await setAvatar(page.ctx, ownerOf(page), await readChosenImage(files));
    return page.path;
  },
  async delete_avatar(page) {
    await deleteAvatar(page.ctx, ownerOf(page));
    return page.path;
  },
});

interface AvatarFormProps {
  page: SettingsPage;
  state: FormState;
  /** The path of the avatar; undefined where there is none. */
  avatar: string | undefined;
  /** Whether it was uploaded, so that it can be removed. */
  isUploaded: boolean;
}

/** The forms for the avatar of an owner of settings. */
export function AvatarForm({ page, state, avatar, isUploaded }: AvatarFormProps) {
  return (
    <section class="card" aria-labelledby="avatar">
      <h3 id="avatar">Avatar</h3>
      {avatar === undefined ? undefined : (
        <p>
          <img class="avatar" src={avatar} alt="The present avatar" width={64} height={64} />
        </p>
      )}
      <ActionForm page={page} to={page.path} action="avatar" enctype="multipart/form-data">
        <ImageField fault={state.of("image").fault} isRequired />
        <button type="submit">Upload</button>
      </ActionForm>
      {isUploaded ? (
        <ActionForm page={page} to={page.path} action="delete_avatar">
          <button type="submit" class="danger">
            Remove avatar
          </button>
        </ActionForm>
      ) : undefined}
    </section>
  );
}
