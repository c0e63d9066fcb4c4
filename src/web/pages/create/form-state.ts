import { Form } from "../form.ts";
import type { Refusal } from "../or-refuse.ts";

interface FieldState {
  name: string;
  value: string;
  fault: string | undefined;
  isFaultElsewhere: boolean;
}

/** A form that is shown: what was typed into it, and why it was refused. */
export class FormState {
  readonly form: Form;
  readonly refusal: Refusal | undefined;
  private readonly isSent: boolean;

  private constructor(form: Form, isSent: boolean, refusal: Refusal | undefined) {
    this.form = form;
    this.isSent = isSent;
    this.refusal = refusal;
  }

  /**
   * A form that nobody has filled in, but for some fields.
   *
   * @param refusal That of another form of the page.
   */
  static fresh(fields: Readonly<Record<string, string>> = {}, refusal?: Refusal): FormState {
    return new FormState(new Form(new Map(Object.entries(fields))), false, refusal);
  }

  static refused(form: Form, refusal: Refusal): FormState {
    return new FormState(form, true, refusal);
  }

  /** A form as it was sent, but for some fields that are filled in for its sender. */
  static filled(form: Form, fields: Readonly<Record<string, string>>): FormState {
    return new FormState(form.with(fields), true, undefined);
  }

  /** The name, the text and the refusal of a field, and whether another one is refused. */
  of(name: string): FieldState {
    const field = this.refusal?.field;
    return {
      name,
      value: this.form.text(name),
      fault: field === name ? this.refusal?.fault : undefined,
      isFaultElsewhere: field !== undefined && field !== name,
    };
  }

  /** The text of a field; as given where nothing was sent yet. */
  valueOf(name: string, valueAtFirst: string): string {
    return this.isSent ? this.form.text(name) : valueAtFirst;
  }

  /** Whether a checkbox is set; as given where nothing was sent yet. */
  isSet(name: string, isSetAtFirst: boolean): boolean {
    return this.isSent ? this.form.isSet(name) : isSetAtFirst;
  }

  /** Whether it was sent by a page that showed another version of what it edits. */
  isStale(name: string, version: string): boolean {
    return this.isSent && this.form.text(name) !== version;
  }

  /** The refusal that no field of the form shows. */
  generalFault(...fields: readonly string[]): string | undefined {
    const { refusal } = this;
    return refusal?.field !== undefined && fields.includes(refusal.field)
      ? undefined
      : refusal?.text;
  }
}
