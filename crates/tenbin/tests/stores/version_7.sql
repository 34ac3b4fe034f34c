-- A store as SQLite dumps it: version 7, of before a run was judged in one place. A study of two variants with gates, errors, and
-- outages; an open load with time-outs; transactions.
PRAGMA application_id = 1952804450;
PRAGMA user_version = 7;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE ceiling (
    shape               TEXT NOT NULL,
    layout              TEXT NOT NULL,
    per_s               REAL NOT NULL,
    measured_at_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (shape, layout)
) STRICT, WITHOUT ROWID;
CREATE TABLE ending (
    run              INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL, -- complete, degraded, partial, aborted, invalid
    validity         TEXT NOT NULL, -- JSON
    generator        TEXT NOT NULL, -- JSON
    spread           TEXT,          -- JSON
    planned_left     INTEGER NOT NULL,
    notes            TEXT NOT NULL, -- JSON list of sentences
    resolved_ns      INTEGER,
    tls              TEXT,
    system           TEXT           -- JSON
, not_available TEXT NOT NULL DEFAULT '[]', steadiness TEXT, window_ns INTEGER, outage TEXT) STRICT;
INSERT INTO "ending" VALUES(1,1795384624424,'degraded','{"verdict":"valid","causes":[]}','{"cpu_user_s":0.030000000000000002,"cpu_sys_s":0.01,"rss_peak_bytes":31186944,"threads":2,"wake_lag_p99_us":null,"thread_cpu_share_max":0.004139523051718032,"wake_lag_max_us":3843.013,"run_queue_wait_share":0.007616579157210703,"heartbeat_max_us":3885.956,"busiest_10s_share":null,"involuntary_per_s":7.219623134115023,"steal_share":0.0024477880781374607,"throttled_s":0.0,"client_share_of_tail":null,"mean_in_flight":0.196420828,"little_ratio":1.0,"ceiling_per_s":null}','{"connections":3,"requests":[9.0,9.0,9.0],"response_mean_ns":[7226929.222222222,8133725.444444444,8136514.222222222],"response_max_ns":[20650180.0,21293845.0,22147588.0]}',0,'[]',NULL,NULL,NULL,'[]','{"verdict":"too_short","why":"it takes 6 s in all to tell","window_ns":250000000,"windows":7,"cut_s":0.0,"drift_share":null,"halves_share":null,"step_s":null,"extended":0}',1000000000,'{"longest_s":0.0,"gone_share":0.20571598133333333,"times":[]}');
INSERT INTO "ending" VALUES(2,1795384626530,'degraded','{"verdict":"valid","causes":[]}','{"cpu_user_s":0.010000000000000009,"cpu_sys_s":0.009999999999999998,"rss_peak_bytes":32116736,"threads":2,"wake_lag_p99_us":null,"thread_cpu_share_max":0.004702884651523571,"wake_lag_max_us":3636.315,"run_queue_wait_share":0.007362819184301788,"heartbeat_max_us":3313.113,"busiest_10s_share":null,"involuntary_per_s":5.1593062943693635,"steal_share":0.0,"throttled_s":0.0,"client_share_of_tail":null,"mean_in_flight":0.194896108,"little_ratio":1.0,"ceiling_per_s":null}','{"connections":3,"requests":[9.0,9.0,9.0],"response_mean_ns":[7313768.777777778,7488502.444444444,7857905.0],"response_max_ns":[21681682.0,23975241.0,24981466.0]}',0,'[]',NULL,NULL,NULL,'[]','{"verdict":"too_short","why":"it takes 6 s in all to tell","window_ns":250000000,"windows":7,"cut_s":0.0,"drift_share":null,"halves_share":null,"step_s":null,"extended":0}',1000000000,'{"longest_s":0.0,"gone_share":0.34659291166666667,"times":[]}');
INSERT INTO "ending" VALUES(3,1795384629223,'degraded','{"verdict":"valid","causes":[]}','{"cpu_user_s":0.019999999999999997,"cpu_sys_s":0.01,"rss_peak_bytes":30380032,"threads":2,"wake_lag_p99_us":null,"thread_cpu_share_max":0.005161452313207367,"wake_lag_max_us":1167.897,"run_queue_wait_share":0.0010269140058804973,"heartbeat_max_us":619.951,"busiest_10s_share":null,"involuntary_per_s":2.0329490512254984,"steal_share":0.0,"throttled_s":0.0,"client_share_of_tail":null,"mean_in_flight":0.7403377366666667,"little_ratio":1.0,"ceiling_per_s":null}','{"connections":3,"requests":[4.0,7.0,12.0],"response_mean_ns":[24760019.42857143,31406533.5,32858867.166666668],"response_max_ns":[44981739.0,47172409.0,59231268.0]}',0,'["SHARED: the system (tenbin, process 28659) is on this machine, and 2 of its 2 cores are the generator''s as well: that takes from both, and makes differences look smaller."]',NULL,NULL,NULL,'[]','{"verdict":"too_short","why":"it takes 6 s in all to tell","window_ns":250000000,"windows":7,"cut_s":0.0,"drift_share":null,"halves_share":null,"step_s":null,"extended":0}',1500000000,'{"longest_s":0.0,"gone_share":0.23333333333333334,"times":[]}');
INSERT INTO "ending" VALUES(4,1795384630587,'complete','{"verdict":"valid","causes":[]}','{"cpu_user_s":0.019999999999999997,"cpu_sys_s":0.0,"rss_peak_bytes":29024256,"threads":2,"wake_lag_p99_us":null,"thread_cpu_share_max":0.004185440589659334,"wake_lag_max_us":1648.826,"run_queue_wait_share":0.00240314877638464,"heartbeat_max_us":1675.638,"busiest_10s_share":null,"involuntary_per_s":0.0,"steal_share":0.0,"throttled_s":0.0,"client_share_of_tail":null,"mean_in_flight":0.004459245,"little_ratio":1.0,"ceiling_per_s":null}','{"connections":2,"requests":[7.0,7.0,8.0],"response_mean_ns":[436056.375,436056.375,649898.8571428572],"response_max_ns":[511268.0,511268.0,1995737.0]}',0,'["query mode simple, scale 1, latency limit 50ms"]',NULL,NULL,NULL,'[]','{"verdict":"too_short","why":"it takes 5 s in all to tell","window_ns":250000000,"windows":4,"cut_s":0.0,"drift_share":null,"halves_share":null,"step_s":null,"extended":0}',1000000000,'{"longest_s":0.0,"gone_share":0.0,"times":[]}');
CREATE TABLE error (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    class    TEXT NOT NULL,
    code     INTEGER NOT NULL,
    message  TEXT NOT NULL,    -- may quote the peer
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "error" VALUES(1,0,'status',429,'status 429, expected 200–399',7);
INSERT INTO "error" VALUES(3,0,'status',429,'status 429, expected 200–399',14);
INSERT INTO "error" VALUES(5,0,'status',429,'status 429, expected 200–399',6);
INSERT INTO "error" VALUES(6,0,'status',429,'status 429, expected 200–399',12);
INSERT INTO "error" VALUES(7,0,'status',429,'status 429, expected 200–399',7);
INSERT INTO "error" VALUES(9,0,'status',429,'status 429, expected 200–399',14);
INSERT INTO "error" VALUES(11,0,'status',429,'status 429, expected 200–399',12);
INSERT INTO "error" VALUES(12,0,'status',429,'status 429, expected 200–399',6);
INSERT INTO "error" VALUES(13,0,'timeout_first_byte',0,'the deadline passed while waiting for the first byte of a reply',1);
INSERT INTO "error" VALUES(14,0,'timeout_first_byte',0,'the deadline passed while waiting for the first byte of a reply',2);
INSERT INTO "error" VALUES(15,0,'timeout_first_byte',0,'the deadline passed while waiting for the first byte of a reply',1);
INSERT INTO "error" VALUES(16,0,'timeout_first_byte',0,'the deadline passed while waiting for the first byte of a reply',1);
INSERT INTO "error" VALUES(17,0,'timeout_first_byte',0,'the deadline passed while waiting for the first byte of a reply',2);
INSERT INTO "error" VALUES(18,0,'timeout_first_byte',0,'the deadline passed while waiting for the first byte of a reply',2);
CREATE TABLE failure (
    run     INTEGER PRIMARY KEY REFERENCES ending (run) ON DELETE CASCADE,
    stage   TEXT NOT NULL,
    process TEXT,
    what    TEXT NOT NULL,
    way_out TEXT NOT NULL
) STRICT;
CREATE TABLE gate (
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the plan
    text     TEXT NOT NULL,
    step     TEXT,             -- null: all steps
    observed REAL,             -- null: could not be told
    bound    REAL NOT NULL,
    unit     TEXT NOT NULL,
    holds    INTEGER NOT NULL, -- 0, 1
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "gate" VALUES(1,0,'p(90)<200ms',NULL,NULL,200000000.0,'ns',0);
INSERT INTO "gate" VALUES(1,1,'errors<1%',NULL,6.66666666666666629659e-01,0.01,'share',0);
INSERT INTO "gate" VALUES(1,2,'job: throughput>20/s from 0s to 1s','job',9.0,20.0,'/s',0);
INSERT INTO "gate" VALUES(2,0,'p(90)<200ms',NULL,NULL,200000000.0,'ns',0);
INSERT INTO "gate" VALUES(2,1,'errors<1%',NULL,6.66666666666666629659e-01,0.01,'share',0);
INSERT INTO "gate" VALUES(2,2,'job: throughput>20/s from 0s to 1s','job',9.0,20.0,'/s',0);
CREATE TABLE output (
    number        INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    process       TEXT NOT NULL,
    text          BLOB NOT NULL,
    dropped_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO "output" VALUES(1,1,'target',X'6C697374656E696E67206F6E20687474703A2F2F3132372E302E302E313A32313534312F20286C697374732074686520656E64706F696E7473293B204374726C2D4320656E64732069740A3538207265717565737473206F6E203720636F6E6E656374696F6E733A20313920616E737765726564203278782C203339203478782C20302035787820283020666F7220612066756C6C2071756575652C203339206F766572207468652072617465290A',0);
INSERT INTO "output" VALUES(2,2,'target',X'6C697374656E696E67206F6E20687474703A2F2F3132372E302E302E313A32313534322F20286C697374732074686520656E64706F696E7473293B204374726C2D4320656E64732069740A3538207265717565737473206F6E203720636F6E6E656374696F6E733A20313920616E737765726564203278782C203339203478782C20302035787820283020666F7220612066756C6C2071756575652C203339206F766572207468652072617465290A',0);
CREATE TABLE part (
    number           INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL,
    step             INTEGER NOT NULL,
    second           INTEGER NOT NULL, -- since the load began
    phase            INTEGER NOT NULL, -- 0 warm-up, 1 measured
    planned          INTEGER NOT NULL,
    sent             INTEGER NOT NULL,
    not_sent         INTEGER NOT NULL,
    ok               INTEGER NOT NULL,
    refused          INTEGER NOT NULL,
    failed           INTEGER NOT NULL,
    timed_out        INTEGER NOT NULL,
    unfinished       INTEGER NOT NULL,
    received_bytes   INTEGER NOT NULL,
    sent_bytes       INTEGER NOT NULL,
    connections      INTEGER NOT NULL, -- established
    first_sent_ns    INTEGER,          -- since the load began
    last_finished_ns INTEGER,          -- since the load began
    other_errors     INTEGER NOT NULL, -- whose kind is not in table error
    histograms       BLOB NOT NULL, checksum INTEGER, window_ok INTEGER, window_refused INTEGER, window_other INTEGER, window_after INTEGER,
    FOREIGN KEY (run, step) REFERENCES step (run, number) ON DELETE CASCADE
) STRICT;
INSERT INTO "part" VALUES(1,1,0,0,0,10,10,0,3,7,0,0,0,1173,980,0,203568,965979341,0,X'03D7D6E80986A6F80989AED21D0003E879010901070107CFDC14C3E02BC4D9E8010007AE4A01EE03012301BB0101ED01010D0184010100039DAEDE09F9ECEA09EFB3AA1D0003DE79010301090107A5E405AD931DD0B97F0007C83B01C40C0118012E011D01BF03019B02010003FEBD078F83139AFA270003FB3E01BE060188040107E8C304E9D316F49F690007873901AF0B0197020101012701EB03014901000AA5E405F9ECEA09BFEDA91E000AC83B01C40C0118012E011D01BF03019B0201952B01030109010000',2372400901,0,0,0,0);
INSERT INTO "part" VALUES(2,1,0,0,1,0,0,0,0,0,0,0,0,0,0,1,NULL,NULL,0,X'0000000000000000000001CB8C08CB8C08CB8C0800018C400100',2884477468,0,0,0,0);
INSERT INTO "part" VALUES(3,1,0,0,0,20,20,0,6,14,0,0,0,2346,1960,0,332192,965949826,0,X'06B1C3E209FAADFA09F9C1943B0004E279020A0103010B020EB89911B09650ECB7D903000ECC480142015001660186010187010138010E014701AD02013601DA0201BE06012901000690B2D50993F1ED099EA8D23A0005D5790210010301030102010EE1C20686AA3A91ED9602000E853D018E0401E6020131011B0105019B01011301FF01014F0142014601DC0C01200100068BC006D7840FDB99420006803D013B01D906013C014201F201010ED7A306C6D019DBCAC201000EC73C01FC030159018D0101060109011E01D601012B01A003018A020110016501F201010014E1C20693F1ED09AF95E93C0013853D018E0401E6020131011B0105019B01011301FF01014F0142014601DC0C0120018B230210010301030102010000',2800922793,0,0,0,0);
INSERT INTO "part" VALUES(4,1,0,0,1,0,0,0,0,0,0,0,0,0,0,2,NULL,NULL,0,X'000000000000000000000296D507819D0897F20F0002AA3F01730100',2471311938,0,0,0,0);
INSERT INTO "part" VALUES(5,1,0,1,1,9,9,0,3,6,0,0,0,1059,882,0,1066271239,1931021704,0,X'03EDAEF10995D6930A85F5FB1D0003F1790105011D010696FB07E9B820B6FA85010006F63F01A50301D60801ED0101E601014A010003D8C4D20996DDE9098DF1961D0003D2790108010F0106E7FF03D5E40FA1B7410006FF37018C0201F10A010401D001019401010003ED920DBD9141F8836500039245019D0601E30C0106AFFB03BAE81195C3440006ED3701BE0401BC0601D603016701D001010009E7FF0396DDE909AEA8D81D0009FF37018C0201F10A010401D00101940101EE310108010F010000',442747123,3,6,0,0);
INSERT INTO "part" VALUES(6,1,0,1,1,18,18,0,6,12,0,0,0,2118,1764,0,1066167329,1939153355,0,X'06868BDD0984E4C70AE587C93B0006DD7901020104010901080153010CA1830DFEFAB902B8B9A00A000C834501E70301CD0101A50101AC03018601018602018F0701ED0D012F014101E701010006A895D109FBCFBB0ADEE7F93A0006D17901010106010701040158010C898903DDEBAB02D0B98205000CA43401C00801AC0301F6010152017401E003017501A601015501CD1B01C603010006F2E40ABEEB1187A04F0006E4420129018701018B01016F01E702010C9CD106EEF9EC01E8FF9D05000CA23D014A01B60301ED04013D011801D103013C019F0501F20701990E014C010012898903FBCFBB0AAEA1FC3F0012A43401C00801AC0301F6010152017401E003017501A601015501CD1B01C60301A21001010106010701040158010000',2803112350,6,12,0,0);
INSERT INTO "part" VALUES(7,2,0,0,0,10,10,0,3,7,0,0,0,1173,980,0,350610,971319420,0,X'03C5E3D3099A83B70ADAE4F61D0003D3790118014C010784C50AEEBA8302A29A8A040007C5420109019F0201AD0801B60E01840201B90A010003D7F3D009858AA80ADFDAD71D0003D079010E014A0107E391039CA6F6019796F8020007C734018407016101D208017801871501B50C010003EEEF0295F90EFB891F0003BF3301E11101D901010787E904AB914F8B8492010007D23901DD0301B70101AE06012201A30501990F01000AE39103858AA80AF6F0CF20000AC734018407016101D208017801871501B50C019E12010E014A010000',2609921568,0,0,0,0);
INSERT INTO "part" VALUES(8,2,0,0,1,0,0,0,0,0,0,0,0,0,0,1,NULL,NULL,0,X'000000000000000000000190F20C90F20C90F20C0001F2440100',3705213996,0,0,0,0);
INSERT INTO "part" VALUES(9,2,0,0,0,20,20,0,6,14,0,0,0,2347,1960,0,1959569,971377605,0,X'06D6BDD809BDDDDE0BB3C3F33C0006D879010501120103010B01E101010EB6E704A5D5BB01C9CFA905000ECE3901E90601F40601C002011101F40101930101200156015F01D80501CA0201BB0C0128010006CBE5CF09AC83CD0BF0ED953C0006CF790105010A0103010301E901010EE9B302D68F3FBABED201000ECF3101CD0201D50601930201CE0301CC0101AF02011A018D020138015901B001016801C60D0100068BD808E1831FC3D55D0006D840012401890401980101D00201D406010ECDB302F192B5018F91D703000ECE3101AA0101E80701D90401FE0101DB0101B40101FB01014D019601019F0601B50401810C01B004010014E9B302AC83CD0BAAACE83D0014CF3101CD0201D50601930201CE0301CC0101AF02011A018D020138015901B001016801C60D01EC210105010A0103010301E901010000',3753367066,0,0,0,0);
INSERT INTO "part" VALUES(10,2,0,0,1,0,0,0,0,0,0,0,0,0,0,2,NULL,NULL,0,X'0000000000000000000002F3CA04C4F804B7C30900029539015C0100',3851698138,0,0,0,0);
INSERT INTO "part" VALUES(11,2,0,1,1,18,18,0,6,12,0,0,0,2118,1764,0,1067830915,1938233136,0,X'06D8CBDF09DADFF40BD3B3B03D0005DF7901010108024301C901010CC68204C1B8DA01D5D2DD03000C853801BA0501F10A0102018B0501120104010501D601016F01AF02018713010006ECA9D5098EA4E10BE2C6E83C0006D579010201040102014401C001010CFBB60391E710F09E8901000CDB3501DF0101BE0401FF0201A50401A10101A101013F01BC0101090142010F0100068A8A08CCBB13F1EC4700068A400186020156012B018D0101BF05010CCB4BB0D1C901E5B3D402000CB92101FC0201F41C01BF01013801D101014E01BB01018A0101980201ED0301C416010012FBB6038EA4E10BD2E5F13D0012DB3501DF0101BE0401FF0201A50401A10101A101013F01BC0101090142010F01A231010201040102014401C001010000',4239240773,6,12,0,0);
INSERT INTO "part" VALUES(12,2,0,1,1,9,9,0,3,6,0,0,0,1059,882,0,1071786387,1938715942,0,X'03DDCDDF09C9AAB70B8DDAF71E0003DF79010101D7010106B1B8119EDF259DED99010006DC480156011801A40401B102019801010003F480D309CBEDAB0BFF87D51E0003D379010301D50101068B9203EDCE0C9BD4300006C83401E60501CD0401A40201E00101CF010100039DB409F3E00D8ED2220003B44101880201A4020106A4B90697C01C8299690006F23C011A01C60A01D00301BF0101BF010100098B9203CBEDAB0B9ADC851F0009C83401E60501CD0401A40201E00101CF01018535010301D501010000',542173345,3,6,0,0);
INSERT INTO "part" VALUES(13,3,0,0,0,5,5,0,4,0,0,1,0,499,535,1,50163139,470153770,0,X'04C1916DA6C89711A592B61D0004D25D01C80801B41301FD06010001D8FCDC1CD8FCDC1CD8FCDC1C0001AE86010104C8DC57D39C9111A4BB921D0004FB5A01850B01C91301FF060100019582D31C9582D31C9582D31C0001A986010104E0AC03F9B41581D7230004B33501E00301C40301830E010001C3FA09C3FA09C3FA090001FA410104C8DC57D39C9111A4BB921D0004FB5A01850B01C91301FF060101A0BE0DA0BE0DA0BE0D0001BE450100',2661843870,0,0,0,0);
INSERT INTO "part" VALUES(14,3,0,0,1,5,5,0,3,0,0,2,0,376,535,3,550050997,966224148,0,X'03949FDE07B5A8F513BEADFD230003BC77016D01D109010002B4D7D31CDEF1D41C92C9A8390002A9860101010103F1C4D807809AF21393C2E7230003B177016B01DD09010002C1FBC11CA99DD01CEA9892390002A0860101080103B58E03D3820DABEB150003B93401FB0601CE090100028BBA039DF612A8B0160002E83501D3130103F1C4D807809AF21393C2E7230003B177016B01DD090103A2A404FAE20EA38E180003C83801C60101D40C0100',950675107,3,0,2,0);
INSERT INTO "part" VALUES(15,3,0,0,0,5,5,0,4,0,0,1,0,494,535,1,157526,400408976,0,X'0490FB18CFF9DD15F8B0DD310004BD4C01B52F01820401FA02010001E8F59B1DE8F59B1DE8F59B1D0001CD860101049DF715BED4CE15EBD6BD310004FB4A01ED3001880401F702010001D6F5961DD6F5961DD6F5961D0001CB86010104F3830391A50F8DDA1F00048F3401FA0201C50A01D7050100019280059280059280050001803A01049DF715BED4CE15EBD6BD310004FB4A01ED3001880401F7020101F9CB0BF9CB0BF9CB0B0001CB430100',1564035463,0,0,0,0);
INSERT INTO "part" VALUES(16,3,0,0,1,6,6,0,4,0,0,1,0,501,642,2,500230658,960124608,0,X'048DB7C308A4BD9E19E8DDC8360004C37801970101B20101C309010001C0DBD51CC0DBD51CC0DBD51C0001AA86010104D5B9BF08A2B39019B0EAB0360004BF7801980101B20101BF09010001FAFED21CFAFED21CFAFED21C0001A98601010490ED02828A0EB8F3170004B433014701FA0301950E010001C6DC02C6DC02C6DC020001F2320104D5B9BF08A2B39019B0EAB0360004BF7801980101B20101BF090102B7D60AC1A615F8FC1F0002D64201FD070100',1738983701,4,0,1,0);
INSERT INTO "part" VALUES(17,3,0,1,1,9,9,0,8,0,0,2,0,999,963,1,1100066874,1960076977,0,X'08EDCCC301A4989F1CFEE8B9850100089C6401FA0701DF13013E01E901012601D8020175010002B1E7D21CA19FDB1CD286AE390002A9860101040108F5A2C101A0F49C1C9ADCFB840100088A6401D007019714013801F301012401D402017A010002A48CD01C9EEED41CC2FAA4390002A886010102010888E801CFA113E48C3E0008C02E01D002011701ED0601990101B10B01980201DA020100028DDB0283B106908C090002EC3201F6090108F5A2C101A0F49C1C9ADCFB840100088A6401D007019714013801F301012401D402017A0101F69A0BF69A0BF69A0B00019A430100',1250816771,8,0,2,0);
INSERT INTO "part" VALUES(18,3,0,1,1,10,10,0,8,0,0,2,0,1003,1070,3,1050118910,1967469270,0,X'08C0D8BD01B996BF16A0F0C86A0008ED6301F70E01C60501A40501E50101E60101C3010143010002CCF4D61C9ABEDC1CE6B2B3390002AB860101030108A8E39C01E7BBBC16AFFAFC690008E66101F71001CA0501920501F80101E60101C20101450100029EB8C71C9BA1D31CB9D99A390002A3860101060108CBAE0298F520F1F54B0008BA3101600150019602015E01800901F60B01C905010002B1D303FC8515ADD9180002CD3601F5130108A8E39C01E7BBBC16AFFAFC690008E66101F71001CA0501920501F80101E60101C20101450103BD9A0CFEE40DB6C02700039A4401A60101240100',2012648723,8,0,2,0);
INSERT INTO "part" VALUES(19,4,0,0,1,7,7,0,7,0,0,0,0,0,0,1,68356584,867028344,0,X'079AFA15D9E779ACD595020007FD4A01070155016001E30201870101F90E01000007AAF811988914CCDA83010007FC48010D0121010E0101010D013E010000078C9703BD9267E0FA91010007DC3401A70301800101B90401F00501D70101EF170100000001AFF819AFF819AFF8190001FC4C0100',3427990981,7,0,0,0);
INSERT INTO "part" VALUES(20,4,0,0,1,8,8,0,8,0,0,0,0,0,0,1,197923,933734575,0,X'089FA315A49A1FC3F5D4010008D14A013D01910101AB01010A014001A701011201000008FC9809CE8215A1BB8C010008984101850701450120011101670104014301000008C4E005A38A0CA2BA480008C13B0163014F01F004011E017F011D016D01000000018FC00F8FC00F8FC00F0001C0470100',3029260227,8,0,0,0);
CREATE TABLE place (
    number   INTEGER PRIMARY KEY,
    study    INTEGER NOT NULL REFERENCES study (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the study
    block    INTEGER NOT NULL, -- from 0
    system   TEXT NOT NULL,
    variant  TEXT NOT NULL,    -- the setting of its knobs in words
    knobs    TEXT NOT NULL,    -- JSON list of pairs of texts
    load     TEXT NOT NULL, stage TEXT NOT NULL DEFAULT 'block', users INTEGER, rate_per_s REAL,    -- its name
    UNIQUE (study, position)
) STRICT;
INSERT INTO "place" VALUES(1,1,0,0,'target','threads=4','[["threads","4"]]','3 users','block',NULL,NULL);
INSERT INTO "place" VALUES(2,1,1,0,'target','threads=1','[["threads","1"]]','3 users','block',NULL,NULL);
CREATE TABLE reading_kind (
    run     INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number  INTEGER NOT NULL, -- from 0
    subject TEXT NOT NULL,    -- machine, system, generator, or a process
    metric  TEXT NOT NULL,
    label   TEXT NOT NULL,    -- such as core0; may be empty
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "reading_kind" VALUES(1,0,'generator','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(1,1,'generator','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(1,2,'generator','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(1,3,'generator','open_files','');
INSERT INTO "reading_kind" VALUES(1,4,'generator','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(1,5,'generator','rss_bytes','');
INSERT INTO "reading_kind" VALUES(1,6,'generator','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(1,7,'generator','swap_bytes','');
INSERT INTO "reading_kind" VALUES(1,8,'generator','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(1,9,'generator','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(1,10,'generator','threads','');
INSERT INTO "reading_kind" VALUES(1,11,'generator','throttled_s','');
INSERT INTO "reading_kind" VALUES(1,12,'target','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(1,13,'target','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(1,14,'target','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(1,15,'target','disk_read_bytes','');
INSERT INTO "reading_kind" VALUES(1,16,'target','disk_written_bytes','');
INSERT INTO "reading_kind" VALUES(1,17,'target','open_files','');
INSERT INTO "reading_kind" VALUES(1,18,'target','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(1,19,'target','processes','');
INSERT INTO "reading_kind" VALUES(1,20,'target','pss_bytes','');
INSERT INTO "reading_kind" VALUES(1,21,'target','rss_bytes','');
INSERT INTO "reading_kind" VALUES(1,22,'target','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(1,23,'target','swap_bytes','');
INSERT INTO "reading_kind" VALUES(1,24,'target','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(1,25,'target','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(1,26,'target','threads','');
INSERT INTO "reading_kind" VALUES(1,27,'system','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(1,28,'system','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(1,29,'system','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(1,30,'system','disk_read_bytes','');
INSERT INTO "reading_kind" VALUES(1,31,'system','disk_written_bytes','');
INSERT INTO "reading_kind" VALUES(1,32,'system','open_files','');
INSERT INTO "reading_kind" VALUES(1,33,'system','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(1,34,'system','processes','');
INSERT INTO "reading_kind" VALUES(1,35,'system','pss_bytes','');
INSERT INTO "reading_kind" VALUES(1,36,'system','rss_bytes','');
INSERT INTO "reading_kind" VALUES(1,37,'system','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(1,38,'system','swap_bytes','');
INSERT INTO "reading_kind" VALUES(1,39,'system','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(1,40,'system','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(1,41,'system','threads','');
INSERT INTO "reading_kind" VALUES(1,42,'machine','cpu_user_s','core0');
INSERT INTO "reading_kind" VALUES(1,43,'machine','cpu_sys_s','core0');
INSERT INTO "reading_kind" VALUES(1,44,'machine','cpu_idle_s','core0');
INSERT INTO "reading_kind" VALUES(1,45,'machine','iowait_s','core0');
INSERT INTO "reading_kind" VALUES(1,46,'machine','steal_s','core0');
INSERT INTO "reading_kind" VALUES(1,47,'machine','cpu_user_s','core1');
INSERT INTO "reading_kind" VALUES(1,48,'machine','cpu_sys_s','core1');
INSERT INTO "reading_kind" VALUES(1,49,'machine','cpu_idle_s','core1');
INSERT INTO "reading_kind" VALUES(1,50,'machine','iowait_s','core1');
INSERT INTO "reading_kind" VALUES(1,51,'machine','steal_s','core1');
INSERT INTO "reading_kind" VALUES(1,52,'machine','memory_available_bytes','');
INSERT INTO "reading_kind" VALUES(1,53,'machine','swap_bytes','');
INSERT INTO "reading_kind" VALUES(1,54,'machine','page_faults_major','');
INSERT INTO "reading_kind" VALUES(1,55,'machine','swapped_in_pages','');
INSERT INTO "reading_kind" VALUES(1,56,'machine','swapped_out_pages','');
INSERT INTO "reading_kind" VALUES(1,57,'machine','disk_read_bytes','vda');
INSERT INTO "reading_kind" VALUES(1,58,'machine','disk_written_bytes','vda');
INSERT INTO "reading_kind" VALUES(1,59,'machine','disk_busy_s','vda');
INSERT INTO "reading_kind" VALUES(1,60,'machine','net_received_bytes','lo');
INSERT INTO "reading_kind" VALUES(1,61,'machine','net_sent_bytes','lo');
INSERT INTO "reading_kind" VALUES(1,62,'machine','net_received_bytes','eth0');
INSERT INTO "reading_kind" VALUES(1,63,'machine','net_sent_bytes','eth0');
INSERT INTO "reading_kind" VALUES(1,64,'machine','time_wait_sockets','');
INSERT INTO "reading_kind" VALUES(1,65,'system','listen_queue','21541');
INSERT INTO "reading_kind" VALUES(1,66,'system','listen_queue_limit','21541');
INSERT INTO "reading_kind" VALUES(1,67,'machine','listen_overflows','');
INSERT INTO "reading_kind" VALUES(1,68,'machine','listen_drops','');
INSERT INTO "reading_kind" VALUES(1,69,'machine','pressure_cpu_some_share','');
INSERT INTO "reading_kind" VALUES(1,70,'machine','pressure_memory_some_share','');
INSERT INTO "reading_kind" VALUES(1,71,'machine','pressure_io_some_share','');
INSERT INTO "reading_kind" VALUES(2,0,'generator','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(2,1,'generator','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(2,2,'generator','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(2,3,'generator','open_files','');
INSERT INTO "reading_kind" VALUES(2,4,'generator','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(2,5,'generator','rss_bytes','');
INSERT INTO "reading_kind" VALUES(2,6,'generator','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(2,7,'generator','swap_bytes','');
INSERT INTO "reading_kind" VALUES(2,8,'generator','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(2,9,'generator','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(2,10,'generator','threads','');
INSERT INTO "reading_kind" VALUES(2,11,'generator','throttled_s','');
INSERT INTO "reading_kind" VALUES(2,12,'target','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(2,13,'target','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(2,14,'target','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(2,15,'target','disk_read_bytes','');
INSERT INTO "reading_kind" VALUES(2,16,'target','disk_written_bytes','');
INSERT INTO "reading_kind" VALUES(2,17,'target','open_files','');
INSERT INTO "reading_kind" VALUES(2,18,'target','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(2,19,'target','processes','');
INSERT INTO "reading_kind" VALUES(2,20,'target','pss_bytes','');
INSERT INTO "reading_kind" VALUES(2,21,'target','rss_bytes','');
INSERT INTO "reading_kind" VALUES(2,22,'target','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(2,23,'target','swap_bytes','');
INSERT INTO "reading_kind" VALUES(2,24,'target','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(2,25,'target','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(2,26,'target','threads','');
INSERT INTO "reading_kind" VALUES(2,27,'system','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(2,28,'system','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(2,29,'system','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(2,30,'system','disk_read_bytes','');
INSERT INTO "reading_kind" VALUES(2,31,'system','disk_written_bytes','');
INSERT INTO "reading_kind" VALUES(2,32,'system','open_files','');
INSERT INTO "reading_kind" VALUES(2,33,'system','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(2,34,'system','processes','');
INSERT INTO "reading_kind" VALUES(2,35,'system','pss_bytes','');
INSERT INTO "reading_kind" VALUES(2,36,'system','rss_bytes','');
INSERT INTO "reading_kind" VALUES(2,37,'system','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(2,38,'system','swap_bytes','');
INSERT INTO "reading_kind" VALUES(2,39,'system','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(2,40,'system','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(2,41,'system','threads','');
INSERT INTO "reading_kind" VALUES(2,42,'machine','cpu_user_s','core0');
INSERT INTO "reading_kind" VALUES(2,43,'machine','cpu_sys_s','core0');
INSERT INTO "reading_kind" VALUES(2,44,'machine','cpu_idle_s','core0');
INSERT INTO "reading_kind" VALUES(2,45,'machine','iowait_s','core0');
INSERT INTO "reading_kind" VALUES(2,46,'machine','steal_s','core0');
INSERT INTO "reading_kind" VALUES(2,47,'machine','cpu_user_s','core1');
INSERT INTO "reading_kind" VALUES(2,48,'machine','cpu_sys_s','core1');
INSERT INTO "reading_kind" VALUES(2,49,'machine','cpu_idle_s','core1');
INSERT INTO "reading_kind" VALUES(2,50,'machine','iowait_s','core1');
INSERT INTO "reading_kind" VALUES(2,51,'machine','steal_s','core1');
INSERT INTO "reading_kind" VALUES(2,52,'machine','memory_available_bytes','');
INSERT INTO "reading_kind" VALUES(2,53,'machine','swap_bytes','');
INSERT INTO "reading_kind" VALUES(2,54,'machine','page_faults_major','');
INSERT INTO "reading_kind" VALUES(2,55,'machine','swapped_in_pages','');
INSERT INTO "reading_kind" VALUES(2,56,'machine','swapped_out_pages','');
INSERT INTO "reading_kind" VALUES(2,57,'machine','disk_read_bytes','vda');
INSERT INTO "reading_kind" VALUES(2,58,'machine','disk_written_bytes','vda');
INSERT INTO "reading_kind" VALUES(2,59,'machine','disk_busy_s','vda');
INSERT INTO "reading_kind" VALUES(2,60,'machine','net_received_bytes','lo');
INSERT INTO "reading_kind" VALUES(2,61,'machine','net_sent_bytes','lo');
INSERT INTO "reading_kind" VALUES(2,62,'machine','net_received_bytes','eth0');
INSERT INTO "reading_kind" VALUES(2,63,'machine','net_sent_bytes','eth0');
INSERT INTO "reading_kind" VALUES(2,64,'machine','time_wait_sockets','');
INSERT INTO "reading_kind" VALUES(2,65,'system','listen_queue','21542');
INSERT INTO "reading_kind" VALUES(2,66,'system','listen_queue_limit','21542');
INSERT INTO "reading_kind" VALUES(2,67,'machine','listen_overflows','');
INSERT INTO "reading_kind" VALUES(2,68,'machine','listen_drops','');
INSERT INTO "reading_kind" VALUES(2,69,'machine','pressure_cpu_some_share','');
INSERT INTO "reading_kind" VALUES(2,70,'machine','pressure_memory_some_share','');
INSERT INTO "reading_kind" VALUES(2,71,'machine','pressure_io_some_share','');
INSERT INTO "reading_kind" VALUES(3,0,'generator','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(3,1,'generator','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(3,2,'generator','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(3,3,'generator','open_files','');
INSERT INTO "reading_kind" VALUES(3,4,'generator','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(3,5,'generator','rss_bytes','');
INSERT INTO "reading_kind" VALUES(3,6,'generator','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(3,7,'generator','swap_bytes','');
INSERT INTO "reading_kind" VALUES(3,8,'generator','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(3,9,'generator','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(3,10,'generator','threads','');
INSERT INTO "reading_kind" VALUES(3,11,'generator','throttled_s','');
INSERT INTO "reading_kind" VALUES(3,12,'machine','cpu_user_s','core0');
INSERT INTO "reading_kind" VALUES(3,13,'machine','cpu_sys_s','core0');
INSERT INTO "reading_kind" VALUES(3,14,'machine','cpu_idle_s','core0');
INSERT INTO "reading_kind" VALUES(3,15,'machine','iowait_s','core0');
INSERT INTO "reading_kind" VALUES(3,16,'machine','steal_s','core0');
INSERT INTO "reading_kind" VALUES(3,17,'machine','cpu_user_s','core1');
INSERT INTO "reading_kind" VALUES(3,18,'machine','cpu_sys_s','core1');
INSERT INTO "reading_kind" VALUES(3,19,'machine','cpu_idle_s','core1');
INSERT INTO "reading_kind" VALUES(3,20,'machine','iowait_s','core1');
INSERT INTO "reading_kind" VALUES(3,21,'machine','steal_s','core1');
INSERT INTO "reading_kind" VALUES(3,22,'machine','memory_available_bytes','');
INSERT INTO "reading_kind" VALUES(3,23,'machine','swap_bytes','');
INSERT INTO "reading_kind" VALUES(3,24,'machine','page_faults_major','');
INSERT INTO "reading_kind" VALUES(3,25,'machine','swapped_in_pages','');
INSERT INTO "reading_kind" VALUES(3,26,'machine','swapped_out_pages','');
INSERT INTO "reading_kind" VALUES(3,27,'machine','disk_read_bytes','vda');
INSERT INTO "reading_kind" VALUES(3,28,'machine','disk_written_bytes','vda');
INSERT INTO "reading_kind" VALUES(3,29,'machine','disk_busy_s','vda');
INSERT INTO "reading_kind" VALUES(3,30,'machine','net_received_bytes','lo');
INSERT INTO "reading_kind" VALUES(3,31,'machine','net_sent_bytes','lo');
INSERT INTO "reading_kind" VALUES(3,32,'machine','net_received_bytes','eth0');
INSERT INTO "reading_kind" VALUES(3,33,'machine','net_sent_bytes','eth0');
INSERT INTO "reading_kind" VALUES(3,34,'machine','time_wait_sockets','');
INSERT INTO "reading_kind" VALUES(3,35,'machine','listen_overflows','');
INSERT INTO "reading_kind" VALUES(3,36,'machine','listen_drops','');
INSERT INTO "reading_kind" VALUES(3,37,'machine','pressure_cpu_some_share','');
INSERT INTO "reading_kind" VALUES(3,38,'machine','pressure_memory_some_share','');
INSERT INTO "reading_kind" VALUES(3,39,'machine','pressure_io_some_share','');
INSERT INTO "reading_kind" VALUES(4,0,'generator','cpu_busiest_thread_s','');
INSERT INTO "reading_kind" VALUES(4,1,'generator','cpu_sys_s','');
INSERT INTO "reading_kind" VALUES(4,2,'generator','cpu_user_s','');
INSERT INTO "reading_kind" VALUES(4,3,'generator','open_files','');
INSERT INTO "reading_kind" VALUES(4,4,'generator','open_files_limit_share','');
INSERT INTO "reading_kind" VALUES(4,5,'generator','rss_bytes','');
INSERT INTO "reading_kind" VALUES(4,6,'generator','run_queue_wait_s','');
INSERT INTO "reading_kind" VALUES(4,7,'generator','swap_bytes','');
INSERT INTO "reading_kind" VALUES(4,8,'generator','switches_involuntary','');
INSERT INTO "reading_kind" VALUES(4,9,'generator','switches_voluntary','');
INSERT INTO "reading_kind" VALUES(4,10,'generator','threads','');
INSERT INTO "reading_kind" VALUES(4,11,'generator','throttled_s','');
INSERT INTO "reading_kind" VALUES(4,12,'machine','cpu_user_s','core0');
INSERT INTO "reading_kind" VALUES(4,13,'machine','cpu_sys_s','core0');
INSERT INTO "reading_kind" VALUES(4,14,'machine','cpu_idle_s','core0');
INSERT INTO "reading_kind" VALUES(4,15,'machine','iowait_s','core0');
INSERT INTO "reading_kind" VALUES(4,16,'machine','steal_s','core0');
INSERT INTO "reading_kind" VALUES(4,17,'machine','cpu_user_s','core1');
INSERT INTO "reading_kind" VALUES(4,18,'machine','cpu_sys_s','core1');
INSERT INTO "reading_kind" VALUES(4,19,'machine','cpu_idle_s','core1');
INSERT INTO "reading_kind" VALUES(4,20,'machine','iowait_s','core1');
INSERT INTO "reading_kind" VALUES(4,21,'machine','steal_s','core1');
INSERT INTO "reading_kind" VALUES(4,22,'machine','memory_available_bytes','');
INSERT INTO "reading_kind" VALUES(4,23,'machine','swap_bytes','');
INSERT INTO "reading_kind" VALUES(4,24,'machine','page_faults_major','');
INSERT INTO "reading_kind" VALUES(4,25,'machine','swapped_in_pages','');
INSERT INTO "reading_kind" VALUES(4,26,'machine','swapped_out_pages','');
INSERT INTO "reading_kind" VALUES(4,27,'machine','disk_read_bytes','vda');
INSERT INTO "reading_kind" VALUES(4,28,'machine','disk_written_bytes','vda');
INSERT INTO "reading_kind" VALUES(4,29,'machine','disk_busy_s','vda');
INSERT INTO "reading_kind" VALUES(4,30,'machine','net_received_bytes','lo');
INSERT INTO "reading_kind" VALUES(4,31,'machine','net_sent_bytes','lo');
INSERT INTO "reading_kind" VALUES(4,32,'machine','net_received_bytes','eth0');
INSERT INTO "reading_kind" VALUES(4,33,'machine','net_sent_bytes','eth0');
INSERT INTO "reading_kind" VALUES(4,34,'machine','time_wait_sockets','');
INSERT INTO "reading_kind" VALUES(4,35,'machine','listen_overflows','');
INSERT INTO "reading_kind" VALUES(4,36,'machine','listen_drops','');
INSERT INTO "reading_kind" VALUES(4,37,'machine','pressure_cpu_some_share','');
INSERT INTO "reading_kind" VALUES(4,38,'machine','pressure_memory_some_share','');
INSERT INTO "reading_kind" VALUES(4,39,'machine','pressure_io_some_share','');
CREATE TABLE readings (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    second INTEGER NOT NULL, -- since the load began
    packed BLOB NOT NULL
, checksum INTEGER) STRICT;
INSERT INTO "readings" VALUES(1,1,0,X'00083F77C829CFDD2285010002083F847AE147AE147B030340538004083F6FF2E48E8A71DE0503417BDE06083F71B71A4CCC254C070008024018090240550A02401C0B000C083F6C1CCAD5C080270D000E083F847AE147AE147B0F0010001102403A12083F554C985F06F69413023FF014044164068015034174F316083F64AA20FB4D3DCB170018024032190240371A0240281B083F6C1CCAD5C080271C001D083F847AE147AE147B1E001F002002403A21083F554C985F06F69422023FF023044164068024034174F325083F64AA20FB4D3DCB26002702403228024037290240282A083FE8A3D70A3D70A42B083FC70A3D70A3D70A2C083F847AE147AE147B2D083F947AE147AE147B2E002F083FECCCCCCCCCCCCD30083FB70A3D70A3D70A310032083F847AE147AE147B33083F847AE147AE147B340542168B2540350036024028370038003903416AEE3A03417F2C3B083FAA9FBE76C8B4393C0440C399803D0440C399803E003F0040034040804100420240904300440045083F9CCAB22113DF91460047083F9102878D7A8FDF',4122976878);
INSERT INTO "readings" VALUES(2,1,1,X'00083F72C0C2B0F2AF3D010002083F847AE147AE147B030340538004083F6FF2E48E8A71DE0503417CBE06083F8CFFF0435217D807000802401C09034054400A02401C0B000C083F6F862DB4A1BB5A0D000E000F0010001102403A12083F554C985F06F69413023FF014044164068015034174F316083F8B038886DDE66117001802402E1902403F1A0240281B083F6F862DB4A1BB5A1C001D001E001F002002403A21083F554C985F06F69422023FF023044164068024034174F325083F8B038886DDE66126002702402E2802403F290240282A083FE6B851EB851EB82B083FD1EB851EB851EC2C002D083F947AE147AE147B2E002F083FE70A3D70A3D70A30083FCAE147AE147AE131083F847AE147AE147B32083FA47AE147AE147B330034054216A02B4035003602403837003800390341772B3A03419F3A3B083FB999999999999A3C0440C399803D0440C399803E003F0040034040804100420240904300440045083FB407E3E62A40EE460047083FAD6BEECDE1F59B',2825896976);
INSERT INTO "readings" VALUES(3,2,0,X'00083F75F58190A81D2F010002083F847AE147AE147B0302405204083F6D7DBF487FCB920503417DC106083F9253ABCEA56A0707000802402A09034055C00A02401C0B000C083F6BFC4DA17C19B50D000E000F0010001102403A12083F554C985F06F69413023FF014044163EC8015034174FD16083F7BC9A7A951C8751700180240301902403E1A0240221B083F6BFC4DA17C19B51C001D001E001F002002403A21083F554C985F06F69422023FF023044163EC8024034174FD25083F7BC9A7A951C8752600270240302802403E290240222A083FDAE147AE147AE12B083FC5C28F5C28F5C32C083FD5C28F5C28F5C32D083F9EB851EB851EB82E002F083FE428F5C28F5C2930083FCD70A3D70A3D7131083FBEB851EB851EB832083F9EB851EB851EB8330034044216A5623500360340574037003800390341828E3A034172CF3B083FB89374BC6A7EFA3C0340C46C3D0340C46C3E003F00400240444100420240904300440045083FB4F68B3CCBA9A8460047083FA2ABAEBE53DA35',3379853038);
INSERT INTO "readings" VALUES(4,2,1,X'00083F73474BC3F8BDC101083F847AE147AE147B02000302405204083F6D7DBF487FCB920503417E2106083F8A63EAE109F09A07000802401409034056400A02401C0B000C083F6EFCF8ED19D1EC0D000E083F847AE147AE147B0F0010001102403A12083F554C985F06F69413023FF0140341640115034174FD16083F77ADD00769D6B3170018024031190240401A0240221B083F6EFCF8ED19D1EC1C001D083F847AE147AE147B1E001F002002403A21083F554C985F06F69422023FF0230341640124034174FD25083F77ADD00769D6B326002702403128024040290240222A083FE147AE147AE1482B083FC33333333333332C083FD147AE147AE1482D083F9EB851EB851EB82E002F083FE51EB851EB851F30083FC999999999999A31083FB47AE147AE147B32083F947AE147AE147B330034054216A7B640350036034070403700380039034177683A0341688E3B083FBA9FBE76C8B4393C0440C399803D0440C399803E003F004002403F4100420240904300440045083FBD9FD27D9E0FE646083F4C60B825E00F9547083FA1B064019607F0',3706092038);
INSERT INTO "readings" VALUES(5,3,0,X'00083F747C059B30AEB001083F847AE147AE147B02083F847AE147AE147B030340448004083F60CB295E9E1B090503417B7906083F677C60A3AEC6520700080240140902405B0A0240180B000C083FEE147AE147AE140D083FAEB851EB851EB80E083F847AE147AE147B0F00100011083FEE147AE147AE1412083FAEB851EB851EB813001400150016044216AAD91700180019001A001B001C001D001E0440C230801F0440C230802000210022034042802300240025083F9843BA23C8D1C426002700',1240922866);
INSERT INTO "readings" VALUES(6,3,1,X'00083F74A52B037510B4010002083F847AE147AE147B0302404304083F5F212D77318FC50503417CD906083F5D0F08CB447B490700080009034051400A0240140B000C083FEA8F5C28F5C28F0D083FC47AE147AE147B0E083F847AE147AE147B0F00100011083FEF5C28F5C28F5C12083F947AE147AE147B13001400150016054216ACC1C01700180019001A001B001C001D001E0440C2FD801F0440C2FD8020002100220240422300240025083F96F9ECE3EE70BD26002700',2688401122);
INSERT INTO "readings" VALUES(7,4,0,X'00083F71AA7CC0C5D867010002083F847AE147AE147B030340438004083F5FF2E48E8A71DE0503417B7A06083F6B8558B3BA1B08070008023FF0090240620A0240180B000C083FECCCCCCCCCCCCD0D083FB1EB851EB851EC0E083F9EB851EB851EB80F083F847AE147AE147B100011083FEE66666666666612083FA47AE147AE147B13001400150016054216B24C4017001802401819001A001B03411B401C034117801D083F70624DD2F1A9FC1E001F002000210022034043802300240025083FD0385770E0A0CF26083F21D2F308007F1127083F634C66319AE3EF',3166819601);
CREATE TABLE request (
    part           INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- ok, refused, failed, timed_out, unfinished
    status         INTEGER NOT NULL,
    connection     INTEGER NOT NULL,
    intended_ns    INTEGER NOT NULL,
    sent_ns        INTEGER NOT NULL,
    first_byte_ns  INTEGER,
    finished_ns    INTEGER NOT NULL,
    connect_ns     INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    sent_bytes     INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "request" VALUES(13,0,'ok',200,1,450000000,450074965,470153770,470153770,0,125,107);
INSERT INTO "request" VALUES(14,0,'ok',200,2,750000000,750213331,767462005,767462005,0,125,107);
INSERT INTO "request" VALUES(18,0,'ok',200,1,1650000000,1650044370,1697172409,1697172409,0,127,107);
CREATE TABLE run (
    number              INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    started_at_unix_ms  INTEGER NOT NULL,
    title               TEXT NOT NULL,
    plan_text           TEXT NOT NULL,
    plan                TEXT NOT NULL, -- JSON
    plan_hash           TEXT NOT NULL,
    tenbin_version      TEXT NOT NULL,
    host                TEXT NOT NULL, -- JSON
    load                TEXT NOT NULL, -- in words
    model               TEXT NOT NULL, -- closed, open
    warm_up_ns          INTEGER NOT NULL,
    planned_duration_ns INTEGER,
    stamps              TEXT NOT NULL, -- JSON list of sentences
    system              TEXT,          -- JSON
    variant             TEXT,
    study               TEXT,
    writer              TEXT NOT NULL  -- JSON: the process that writes it
, place INTEGER REFERENCES place (number) ON DELETE CASCADE, system_version TEXT, latency_limit_ns INTEGER, connects_each INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "run" VALUES(1,'20261122-215702-2ezx',1795384622347,'few: target threads=4','few: target threads=4: 3 users, closed; 1s after 1s of warm-up','{"connect_timeout_ns":10000000000,"data":[],"load":"3 users, closed","log_per_second":0,"pin":"no","scenarios":[{"name":"","share":1.0,"visits":[{"step":0,"think":{"ns":100000000},"weight":null}]}],"seed":3,"sql":null,"steps":[{"body_bytes":null,"expect":{"body_checks":0,"headers":[],"size":null,"status":"200–399"},"headers":[],"host":"127.0.0.1:21541","keep_alive":true,"method":"GET","name":"job","path":"/hold","saves":[]}],"stop":{"at_ns":2000000000,"requests":null},"threads":null,"timeout_ns":10000000000,"title":"few: target threads=4","tls":null,"unix_socket":null,"variables":[],"warm_up_ns":1000000000}','b3a9be1ff26602d5','0.1.0','{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","memory_bytes":25276063744,"name":"vm","system":"Linux 6.18.44-fc-v769"}','3 users, closed','closed',1000000000,1000000000,'[]',NULL,NULL,NULL,'{"pid":28073,"boot_id":"9f1d4409-e776-4919-8e82-68ded8b08abf","start_ticks":2858116}',1,NULL,NULL,0);
INSERT INTO "run" VALUES(2,'20261122-215704-163r',1795384624438,'few: target threads=1','few: target threads=1: 3 users, closed; 1s after 1s of warm-up','{"connect_timeout_ns":10000000000,"data":[],"load":"3 users, closed","log_per_second":0,"pin":"no","scenarios":[{"name":"","share":1.0,"visits":[{"step":0,"think":{"ns":100000000},"weight":null}]}],"seed":3,"sql":null,"steps":[{"body_bytes":null,"expect":{"body_checks":0,"headers":[],"size":null,"status":"200–399"},"headers":[],"host":"127.0.0.1:21542","keep_alive":true,"method":"GET","name":"job","path":"/hold","saves":[]}],"stop":{"at_ns":2000000000,"requests":null},"threads":null,"timeout_ns":10000000000,"title":"few: target threads=1","tls":null,"unix_socket":null,"variables":[],"warm_up_ns":1000000000}','2c4061037a3eeb17','0.1.0','{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","memory_bytes":25276063744,"name":"vm","system":"Linux 6.18.44-fc-v769"}','3 users, closed','closed',1000000000,1000000000,'[]',NULL,NULL,NULL,'{"pid":28073,"boot_id":"9f1d4409-e776-4919-8e82-68ded8b08abf","start_ticks":2858116}',2,NULL,NULL,0);
INSERT INTO "run" VALUES(3,'20261122-215707-7ktr',1795384627125,'GET http://127.0.0.1:38231/hold?dist=exp&mean_us=30000','GET http://127.0.0.1:38231/hold?dist=exp&mean_us=30000: 20/s, open, even, over 3 connections, shed after 100ms; 1s500ms after 500ms of warm-up','{"connect_timeout_ns":60000000,"data":[],"load":"20/s, open, even, over 3 connections, shed after 100ms","log_per_second":1,"pin":"no","scenarios":[{"name":"","share":1.0,"visits":[{"step":0,"think":null,"weight":null}]}],"seed":65114118,"sql":null,"steps":[{"body_bytes":null,"expect":{"body_checks":0,"headers":[],"size":null,"status":"200–399"},"headers":[],"host":"127.0.0.1:38231","keep_alive":true,"method":"GET","name":"GET /hold?dist=exp&mean_us=30000","path":"/hold","saves":[]}],"stop":{"at_ns":2000000000,"requests":null},"threads":null,"timeout_ns":60000000,"title":"GET http://127.0.0.1:38231/hold?dist=exp&mean_us=30000","tls":null,"unix_socket":null,"variables":[],"warm_up_ns":500000000}','c94f2583a6226100','0.1.0','{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","memory_bytes":25276063744,"name":"vm","system":"Linux 6.18.44-fc-v769"}','20/s, open, even, over 3 connections, shed after 100ms','open',500000000,1500000000,'[]',NULL,NULL,NULL,'{"pid":28691,"boot_id":"9f1d4409-e776-4919-8e82-68ded8b08abf","start_ticks":2858596}',NULL,NULL,NULL,0);
INSERT INTO "run" VALUES(4,'20261122-215709-4fdg',1795384629552,'select-only on sqlite:b.db','select-only on sqlite:b.db: 2 users, closed, at most 15/s together; 1s; query mode simple, scale 1, latency limit 50ms','{"connect_timeout_ns":10000000000,"data":[],"load":"2 users, closed, at most 15/s together","log_per_second":0,"pin":"no","scenarios":[{"name":"","share":1.0,"visits":[{"step":0,"think":null,"weight":null}]}],"seed":408340151,"sql":{"distribution":"uniform","engine":"SQLite","keep_alive":true,"latency_limit_ns":50000000,"max_tries":1,"pool":null,"query_mode":"simple","scale":1,"scripts":[{"name":"select-only","statements":1}],"settings":[],"url":"sqlite:b.db","user":"","variables":{},"workloads":["select-only"]},"steps":[{"expect":{"rows":null},"name":"select-only","saves":[],"script":0}],"stop":{"at_ns":1000000000,"requests":null},"threads":null,"timeout_ns":10000000000,"title":"select-only on sqlite:b.db","tls":null,"unix_socket":null,"variables":[],"warm_up_ns":0}','8f5d442a9d5c8d78','0.1.0','{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","memory_bytes":25276063744,"name":"vm","system":"Linux 6.18.44-fc-v769"}','2 users, closed, at most 15/s together','closed',0,1000000000,'["SQLite runs within the generator: its CPU time is the generator''s"]',NULL,NULL,NULL,'{"pid":28750,"boot_id":"9f1d4409-e776-4919-8e82-68ded8b08abf","start_ticks":2858838}',NULL,'SQLite 3.54.1',50000000,0);
CREATE TABLE status (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    status   INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "status" VALUES(1,0,429,7);
INSERT INTO "status" VALUES(1,1,200,3);
INSERT INTO "status" VALUES(3,0,429,14);
INSERT INTO "status" VALUES(3,1,200,6);
INSERT INTO "status" VALUES(5,0,429,6);
INSERT INTO "status" VALUES(5,1,200,3);
INSERT INTO "status" VALUES(6,0,429,12);
INSERT INTO "status" VALUES(6,1,200,6);
INSERT INTO "status" VALUES(7,0,429,7);
INSERT INTO "status" VALUES(7,1,200,3);
INSERT INTO "status" VALUES(9,0,429,14);
INSERT INTO "status" VALUES(9,1,200,6);
INSERT INTO "status" VALUES(11,0,429,12);
INSERT INTO "status" VALUES(11,1,200,6);
INSERT INTO "status" VALUES(12,0,429,6);
INSERT INTO "status" VALUES(12,1,200,3);
INSERT INTO "status" VALUES(13,0,200,4);
INSERT INTO "status" VALUES(14,0,200,3);
INSERT INTO "status" VALUES(15,0,200,4);
INSERT INTO "status" VALUES(16,0,200,4);
INSERT INTO "status" VALUES(17,0,200,8);
INSERT INTO "status" VALUES(18,0,200,8);
INSERT INTO "status" VALUES(19,0,1,7);
INSERT INTO "status" VALUES(20,0,1,8);
CREATE TABLE step (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0, in the order of the scenario
    name   TEXT NOT NULL, unit TEXT NOT NULL DEFAULT 'requests', part_of INTEGER,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "step" VALUES(1,0,'job','requests',NULL);
INSERT INTO "step" VALUES(2,0,'job','requests',NULL);
INSERT INTO "step" VALUES(3,0,'GET /hold?dist=exp&mean_us=30000','requests',NULL);
INSERT INTO "step" VALUES(4,0,'select-only','transactions',NULL);
CREATE TABLE study (
    number             INTEGER PRIMARY KEY,
    id                 TEXT NOT NULL UNIQUE,
    started_at_unix_ms INTEGER NOT NULL,
    title              TEXT NOT NULL,
    question           TEXT,
    source             TEXT NOT NULL,    -- the plan file as it was
    plan_hash          TEXT NOT NULL,
    tenbin_version     TEXT NOT NULL,
    host               TEXT NOT NULL,    -- JSON
    seed               INTEGER NOT NULL, -- 64 bits, of which the highest is the sign here
    is_quick           INTEGER NOT NULL, -- 0, 1
    compare_by         TEXT NOT NULL,    -- a metric
    higher_is_better   INTEGER NOT NULL, -- 0, 1
    matters            REAL NOT NULL,    -- the smallest difference that matters, as a share
    blocks             INTEGER NOT NULL,
    gates              TEXT NOT NULL,    -- JSON list of texts
    stamps             TEXT NOT NULL,    -- JSON list of sentences
    writer             TEXT NOT NULL     -- JSON: the process that writes it
, procedure TEXT NOT NULL DEFAULT '{"kind":"blocks"}', also TEXT NOT NULL DEFAULT '[]', baseline TEXT, within_s REAL, extensions TEXT) STRICT;
INSERT INTO "study" VALUES(1,'s-20261122-215702-0szx',1795384622341,'few','How many requests may wait?','question: How many requests may wait?
seed: 3
scenario: [ { get: "/hold?mean_us=20000", name: job, think: 100ms } ]
load: { name: 3 users, users: 3, warm-up: 1s, for: 1s }
systems:
  target:
    start: "{tenbin} target --listen 127.0.0.1:{port} --threads {threads} --rate-limit 20"
    ready: { get: /status }
    vary: { threads: [1, 4] }
gates: [ "p(90)<200ms", "errors<1%", "job: throughput>20/s from 0s to 1s" ]
compare: { by: throughput, blocks: 1, also: [p50, errors] }
','e66a6f66a0e5c520','0.1.0','{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","memory_bytes":25276063744,"name":"vm","system":"Linux 6.18.44-fc-v769"}',3,1,'throughput',1,0.03,1,'["p(90)<200ms","errors<1%","job: throughput>20/s from 0s to 1s"]','["SHARED: system and generator were not kept apart on 2 cores, which makes differences look smaller","QUICK: short runs, to see that the plan works and roughly where things lie"]','{"pid":28073,"boot_id":"9f1d4409-e776-4919-8e82-68ded8b08abf","start_ticks":2858116}','{"kind":"blocks"}','["p50","errors"]',NULL,NULL,NULL);
CREATE TABLE study_ending (
    study            INTEGER PRIMARY KEY REFERENCES study (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL -- complete, degraded, partial, aborted, invalid
, why TEXT) STRICT;
INSERT INTO "study_ending" VALUES(1,1795384626552,'complete','blocks');
CREATE INDEX run_by_start ON run (started_at_unix_ms, number);
CREATE INDEX part_by_second ON part (run, second, phase, step);
CREATE INDEX study_by_start ON study (started_at_unix_ms, number);
CREATE INDEX run_by_place ON run (place);
CREATE INDEX readings_by_second ON readings (run, second);
CREATE INDEX output_by_run ON output (run);
COMMIT;
