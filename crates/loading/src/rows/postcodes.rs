//! Synthetic rows shaped like Japanese postcodes: equal number, width, and spread.

use std::ops::Range;

use super::Sink;
use super::digits::fill;
use super::draw::SplitMix64;

/// Number of rows in the comparison that introduced this table.
pub(crate) const ROWS: u64 = 122_000;

const COLUMNS: u16 = 15;
const CODES: u64 = 10_000_000;

/// Name in kana and in kanji.
type Name = (&'static str, &'static str);

const PREFECTURES: [Name; 12] = [
    ("ホッカイドウ", "北海道"),
    ("アオモリケン", "青森県"),
    ("ミヤギケン", "宮城県"),
    ("トウキョウト", "東京都"),
    ("カナガワケン", "神奈川県"),
    ("ニイガタケン", "新潟県"),
    ("アイチケン", "愛知県"),
    ("キョウトフ", "京都府"),
    ("オオサカフ", "大阪府"),
    ("ヒロシマケン", "広島県"),
    ("フクオカケン", "福岡県"),
    ("カゴシマケン", "鹿児島県"),
];
const SYLLABLES: [Name; 16] = [
    ("アサ", "朝"),
    ("カワ", "川"),
    ("ヤマ", "山"),
    ("タニ", "谷"),
    ("ハラ", "原"),
    ("モリ", "森"),
    ("イシ", "石"),
    ("マツ", "松"),
    ("ミナミ", "南"),
    ("キタ", "北"),
    ("ナカ", "中"),
    ("ニシ", "西"),
    ("ヒガシ", "東"),
    ("シマ", "島"),
    ("サキ", "崎"),
    ("オカ", "岡"),
];

pub(super) fn rows(rows: Range<u64>, seed: u64, all: u64, sink: &mut impl Sink) {
    let all = all.max(1);
    let (mut kana, mut kanji) = (String::new(), String::new());
    for row in rows {
        let mut draw = SplitMix64::new(seed, 0, row);
        let place = row as u128 * PREFECTURES.len() as u128 / u128::from(all);
        let prefecture = PREFECTURES[(place as usize).min(PREFECTURES.len() - 1)];
        // Codes are spread evenly, so most seven-digit numbers are not a code.
        let first = (u128::from(row) * u128::from(CODES) / u128::from(all)) as u64;
        let code = first + draw.below((CODES / all).max(1));
        sink.begin_row(COLUMNS);
        let mut digits = [0; 7];
        fill(&mut digits[..5], code / 100 % 100_000);
        sink.text(&digits[..5]);
        // Old codes had three digits for a large town, and two more for a village.
        fill(&mut digits[..5], code / 100);
        if draw.below(3) == 0 {
            digits[3..5].copy_from_slice(b"  ");
        }
        sink.text(&digits[..5]);
        fill(&mut digits, code);
        sink.text(&digits);
        sink.text(prefecture.0.as_bytes());
        let city = [row * 1900 / all, row * 1900 / all / 16];
        let names = [
            name(&mut kana, &mut kanji, &city, ("シ", "市")),
            name(&mut kana, &mut kanji, &[draw.next(), draw.next(), draw.next()], ("チョウ", "町")),
        ];
        for (kana_end, _) in &names {
            sink.text(kana_end.as_bytes());
        }
        sink.text(prefecture.1.as_bytes());
        for (_, kanji_end) in &names {
            sink.text(kanji_end.as_bytes());
        }
        for bound in [2, 2, 2, 2, 3, 7] {
            sink.text(&[b'0' + draw.below(bound) as u8]);
        }
        sink.end_row();
    }
}

/// Builds a name from syllables, in kana and kanji.
fn name(kana: &mut String, kanji: &mut String, syllables: &[u64], end: Name) -> (String, String) {
    kana.clear();
    kanji.clear();
    let picked = syllables.iter().map(|number| SYLLABLES[(number % SYLLABLES.len() as u64) as usize]);
    for (sound, sign) in picked.chain([end]) {
        kana.push_str(sound);
        kanji.push_str(sign);
    }
    (kana.clone(), kanji.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{Content, CopyRows};
    use super::*;

    #[test]
    fn codes_are_scattered_and_all_fields_are_text() {
        let mut copy = CopyRows::default();
        Content::Postcodes { seed: 1, rows: ROWS }.write(0..ROWS, &mut copy);
        let text = std::str::from_utf8(copy.bytes()).unwrap();
        let mut codes = HashSet::new();
        for line in text.lines() {
            let fields: Vec<_> = line.split('\t').collect();
            assert_eq!(fields.len(), usize::from(COLUMNS), "{line}");
            assert!(fields[0].len() == 5 && fields[1].len() == 5 && fields[2].len() == 7, "{line}");
            assert!(fields.iter().all(|field| !field.is_empty()), "{line}");
            codes.insert(fields[2]);
        }
        assert_eq!(text.lines().count() as u64, ROWS);
        assert_eq!(codes.len() as u64, ROWS);
    }

    #[test]
    fn any_number_of_rows_is_supported() {
        for rows in [1, 3, 20_000_000] {
            let mut copy = CopyRows::default();
            Content::Postcodes { seed: 1, rows }.write(rows - 1..rows, &mut copy);
            assert!(copy.bytes().ends_with(b"\n"));
        }
    }
}
