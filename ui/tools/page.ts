/** Embeds a report in the page, as Tenbin does: `npm run fixture -- study|run|runs|hostile|FILE.json PAGE.html`. */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIXTURES } from '../fixtures';
import type { Report } from '../src/report';

const UI = join(import.meta.dirname, '..');

/** A fixture by name, or the report in a JSON file or a page. */
export function reportOf(source: string): Report {
  if (Object.hasOwn(FIXTURES, source)) return FIXTURES[source as keyof typeof FIXTURES]();
  const text = readFileSync(source, 'utf8');
  const inside = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(text);
  return JSON.parse(inside?.[1] ?? text) as Report;
}

/** The whole page, with the script and the style sheet of `dist`. */
export function pageOf(report: Report): string {
  const style = readFileSync(join(UI, 'dist/page.css'), 'utf8');
  const script = readFileSync(join(UI, 'dist/page.js'), 'utf8');
  const parts: Record<string, string> = {
    policy: policy(script, style),
    title: escaped(report.question ?? report.title),
    style,
    without_script: escaped(`This page needs its script. In a terminal: tenbin report ${report.id}`),
    report: json(report),
    script,
  };
  const template = readFileSync(join(UI, 'page.html'), 'utf8');
  // A single pass: placeholders inside values are not replaced.
  return template.replace(/\{\{(\w+)\}\}/g, (found, name: string) => parts[name] ?? found);
}

function policy(script: string, style: string): string {
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function escaped(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

function json(report: Report): string {
  const code = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(report).replace(/[<>&\u2028\u2029]/g, code);
}

/** Runs the command. */
export function main([source, path]: string[]): void {
  if (source === undefined || path === undefined) {
    throw new Error('usage: npm run fixture -- study|run|runs|capacity|hostile|FILE.json PAGE.html');
  }
  const page = pageOf(reportOf(source));
  writeFileSync(path, page);
  console.log(`${path}: ${(page.length / 1024).toFixed(0)} KiB`);
}
