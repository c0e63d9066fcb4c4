import type { Context } from "hono";

import { AVATAR_BYTES_MAX } from "../../domain/people/avatars/read-image.ts";
import { invalidField } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import type { Form as SentForm } from "./form.ts";
import { type ChosenFiles, receiveFormWithFiles } from "./form-with-files.ts";
import { formatBytes } from "./format-bytes.ts";
import { Fault, Form, Hint } from "./layout.tsx";

/** Maximum bytes of the fields beside the image. */
const FIELDS_BYTES_MAX = 64 * 1024;

/** Reads the form of an avatar, before it is known who sent it: see `requireOwnForm`. */
export const receiveAvatarForm = (
  c: Context<WebEnv>,
): Promise<{ form: SentForm; files: ChosenFiles }> => receiveFormWithFiles(c, FIELDS_BYTES_MAX);

/**
 * The image that was chosen.
 *
 * @throws Failure `invalid` for none, and for one that is too large.
 */
export async function readChosenImage(files: ChosenFiles): Promise<Uint8Array<ArrayBuffer>> {
  const file = await files.next();
  if (!file) throw invalidField("image", "must be chosen");
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of file.pieces) {
    bytes += piece.byteLength;
    if (bytes > AVATAR_BYTES_MAX) break;
    // The reader takes its memory back.
    pieces.push(piece.slice());
  }
  await files.skip();
  if (bytes > AVATAR_BYTES_MAX) {
    throw invalidField("image", `must have at most ${formatBytes(AVATAR_BYTES_MAX)}`);
  }
  return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

interface ImageFieldProps {
  fault: string | undefined;
  isRequired?: boolean;
}

/** The field of a form that takes an avatar. */
export const ImageField = ({ fault, isRequired = false }: ImageFieldProps) => (
  <div class="field">
    <label for="image">Image</label>
    <input
      id="image"
      name="image"
      type="file"
      accept="image/png,image/jpeg,image/gif,image/webp"
      required={isRequired}
      aria-invalid={fault === undefined ? undefined : "true"}
      aria-describedby={fault === undefined ? "image-hint" : "image-fault"}
    />
    <Fault id="image-fault" text={fault} />
    <Hint
      id="image-hint"
      text={`PNG, JPEG, GIF or WebP, at most ${formatBytes(AVATAR_BYTES_MAX)}.`}
    />
  </div>
);

interface ImageFormProps {
  /** The address of the form; `…/delete` is that of the one which removes the image. */
  action: string;
  formToken: string;
  hasImage: boolean;
  fault?: string | undefined;
}

/** The forms that set and remove an avatar. */
export const ImageForm = ({ action, formToken, hasImage, fault }: ImageFormProps) => (
  <>
    <Form action={action} formToken={formToken} enctype="multipart/form-data">
      <ImageField fault={fault} />
      <button type="submit">Upload</button>
    </Form>
    {hasImage ? (
      <Form action={`${action}/delete`} formToken={formToken}>
        <button type="submit" class="danger">
          Remove the image
        </button>
      </Form>
    ) : undefined}
  </>
);
