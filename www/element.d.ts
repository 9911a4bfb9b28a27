/** The explanation on screen. */
export interface Explained {
  title: string;
  /** The explained sentences of the answer, from 0. */
  output: number[];
  /** The share of each sentence of the prompt through the steps; null where it was not measured. */
  shares: (number | null)[];
}

interface EventMap {
  opened: CustomEvent<Explained>;
  chosen: CustomEvent<Explained>;
  /** The document could not be opened; the explanation on screen stays. */
  refused: CustomEvent<{ problem: string }>;
}

/**
 * `<glasscage-explanation src="explanation.json" hide="details,tabs" theme="dark" lang="de">`: an explanation with the page's own views,
 * sized to its content.
 */
export class GlasscageExplanation extends HTMLElement {
  /** A document: its JSON, as text or as object, or a link to it. Takes precedence over `src`. */
  document: string | object | null;
  /** Explains these sentences of the answer, from 0. */
  choose(output: number[]): void;
  addEventListener<K extends keyof EventMap>(
    type: K,
    listener: (this: GlasscageExplanation, event: EventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

/**
 * Loads the program once. Await it before you call the functions below. They throw an `Error` that describes the problem with the text.
 */
export function ready(): Promise<unknown>;
/** The document (JSON) contained in a text: its JSON, a link, an SVG or a page. */
export function documentOf(text: string): string;
/** The fragment (without "#") of the link to a document (JSON). */
export function fragmentOf(json: string): string;
/** The influence of each sentence of prompt and answer on the explained ones, through the steps; NaN where it was not measured. */
export function sharesOf(json: string): Float64Array;
/** A document (JSON) as a picture (SVG), `width` CSS pixels wide. */
export function svgOf(json: string, width: number, isDark: boolean): string;

declare global {
  interface HTMLElementTagNameMap {
    "glasscage-explanation": GlasscageExplanation;
  }
}
