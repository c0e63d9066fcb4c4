import type { Context } from "hono";

import {
  type FormFile,
  type FormPart,
  readFormParts,
} from "../../domain/issues/attachments/form-file.ts";
import { malformed } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { Form, receiveForm } from "./form.ts";

/**
 * A form with files. Fields that come after them, as that of the button which sent it, are in the
 * form once the files are read.
 */
export interface FormWithFiles {
  readonly form: Form;
  readonly files: ChosenFiles;
}

/**
 * Reads the fields of a form with files, before it is known who sent it: see `requireOwnForm`. The
 * files are streamed when the caller asks for them. A form without files may be sent as any other.
 *
 * @param bytesMax Maximum bytes of all fields.
 * @throws Failure as `receiveForm`.
 */
export async function receiveFormWithFiles(
  c: Context<WebEnv>,
  bytesMax: number,
): Promise<FormWithFiles> {
  const type = c.req.header("content-type") ?? "";
  const { body } = c.req.raw;
  if (!body || !/^multipart\/form-data\b/i.test(type)) {
    return { form: await receiveForm(c, bytesMax), files: new ChosenFiles() };
  }
  const parts = readFormParts(type, body, bytesMax);
  const fields = new Map<string, string>();
  for (;;) {
    const { value: part, done } = await parts.next();
    if (done) return { form: new Form(fields), files: new ChosenFiles() };
    if (part.filename) {
      return { form: new Form(fields), files: new ChosenFiles(part, parts, fields) };
    }
    // A field in which no file was chosen.
    if (part.filename !== undefined) continue;
    await addField(fields, part);
  }
}

/** @throws Failure `malformed` for a field that the form has already. */
async function addField(fields: Map<string, string>, { name, pieces }: FormPart): Promise<void> {
  // SECURITY: of two values, one would be checked and the other used.
  if (fields.has(name)) throw malformed("The form has a field twice.");
  fields.set(name, await readText(pieces));
}

async function readText(pieces: AsyncGenerator<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

/** The files of a form, one after the other. */
export class ChosenFiles {
  private readonly rest: AsyncGenerator<FormPart> | undefined;
  private first: FormPart | undefined;
  private read: FormPart | undefined;
  private readonly fields: Map<string, string>;

  constructor(
    first?: FormPart,
    rest?: AsyncGenerator<FormPart>,
    fields = new Map<string, string>(),
  ) {
    this.first = first;
    this.rest = rest;
    this.fields = fields;
  }

  /** Whether any file was chosen. */
  get areAny(): boolean {
    return this.rest !== undefined;
  }

  /**
   * The next file; what was not read of the one before is skipped.
   *
   * @throws Failure `malformed` for a field that the form has already; as `readFormParts`.
   */
  async next(): Promise<FormFile | undefined> {
    const part = await this.advance();
    if (!part) return undefined;
    const { filename, pieces } = part;
    if (filename === undefined) await addField(this.fields, part);
    return filename ? { name: filename, pieces: lend(pieces) } : this.next();
  }

  /** Reads what is left: browsers show an answer once they have sent all. */
  async skip(): Promise<void> {
    while (await this.advance());
  }

  private async advance(): Promise<FormPart | undefined> {
    // The parts would count what they skip as bytes of fields.
    while (this.read && !(await this.read.pieces.next()).done);
    this.read = this.first ?? (await this.rest?.next())?.value;
    this.first = undefined;
    return this.read;
  }
}

/** The same pieces; their rest can be read after a reader of these has stopped. */
async function* lend(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { value, done } = await pieces.next();
    if (done) return;
    yield value;
  }
}
