-- Everything that has ever been lost in a dump, in three databases.
CREATE OR REPLACE DATABASE `my-db` CHARACTER SET utf8mb4;
CREATE OR REPLACE DATABASE `täble` CHARACTER SET utf8mb4;
CREATE OR REPLACE DATABASE `plain` CHARACTER SET latin1;
CREATE OR REPLACE USER `owner`@`%`;
GRANT ALL ON *.* TO `owner`@`%`;

USE `my-db`;
CREATE TABLE bytes (id INT PRIMARY KEY, b BLOB, v VARBINARY(300), bits BIT(9), c CHAR(5) CHARACTER SET binary);
INSERT INTO bytes VALUES (1, NULL, NULL, NULL, NULL), (2, '', '', 0, ''),
  (3, UNHEX('000102030405060708090A0B0C0D0E0F1A22275C25FFFEC3'), UNHEX('5C275C22000D0A'), b'101010101', UNHEX('0D0A00271A'));
CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB);
INSERT INTO large SELECT seq, REPEAT(UNHEX(SHA2(seq, 512)), 30000) FROM seq_1_to_3;
CREATE TABLE words (id INT PRIMARY KEY AUTO_INCREMENT, t TEXT, u VARCHAR(100) UNIQUE) AUTO_INCREMENT=1000;
INSERT INTO words (t, u) VALUES ('🐬 dolphin', 'ä'), ('line\nfeed\r\nand\ttab', 'quote \' " ` \\'), ('', ''),
  ('-- Dump completed', '/* comment */'), ('nul \0 sub \Z', '😀😀'), (NULL, NULL), ('\\! touch /tmp/x', 'DELIMITER ;;');
CREATE TABLE kinds (
  id INT PRIMARY KEY, f FLOAT, d DOUBLE, n DECIMAL(30,10), e ENUM('a','b,c','d''e'), s SET('x','y'),
  y YEAR, t TIMESTAMP(6) NULL, dt DATETIME(3), j JSON, g INT AS (id * 2) STORED, w INT AS (id + 1) VIRTUAL,
  inv INT INVISIBLE DEFAULT 7, CHECK (id > 0));
INSERT INTO kinds (id, f, d, n, e, s, y, t, dt, j, inv) VALUES
  (1, 1.5, 1e300, 12345678901234567890.0123456789, 'b,c', 'x,y', 2027, '2027-03-28 02:30:00.123456', '2027-10-31 02:30:00.999', '{"a": "ü"}', 9),
  (2, NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL);
CREATE TABLE empty (id INT PRIMARY KEY, t TEXT);
CREATE TABLE `a child` (id INT PRIMARY KEY, parent INT);
CREATE TABLE `z parent` (id INT PRIMARY KEY);
INSERT INTO `z parent` VALUES (1), (2);
INSERT INTO `a child` VALUES (10, 1), (20, 2), (30, NULL);
ALTER TABLE `a child` ADD CONSTRAINT `fk ä` FOREIGN KEY (parent) REFERENCES `z parent` (id);
CREATE SEQUENCE numbers START WITH 5 INCREMENT BY 3;
SELECT NEXT VALUE FOR numbers;

USE `täble`;
CREATE TABLE `sélect``s "quoted"` (`a b` INT PRIMARY KEY, `from` VARCHAR(20), `c``d` INT) COMMENT='it''s -- odd';
INSERT INTO `sélect``s "quoted"` VALUES (1, 'x', 2), (2, 'ünï', 3);
CREATE TABLE parts (id INT, at DATE, PRIMARY KEY (id, at)) PARTITION BY HASH(YEAR(at)) PARTITIONS 3;
INSERT INTO parts SELECT seq, '2020-01-01' + INTERVAL seq DAY FROM seq_1_to_500;
CREATE TABLE old_engine (id INT PRIMARY KEY, t VARCHAR(10), FULLTEXT KEY (t)) ENGINE=MyISAM;
INSERT INTO old_engine VALUES (1, 'one'), (2, 'two');
CREATE TABLE log_of_trigger (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(50));
-- The view that others use comes later in the alphabet.
CREATE VIEW z_base AS SELECT `a b` AS n FROM `sélect``s "quoted"`;
CREATE DEFINER=`owner`@`%` SQL SECURITY DEFINER VIEW a_view AS SELECT n, n + 1 AS m FROM z_base;
DELIMITER ;;
CREATE DEFINER=`owner`@`%` TRIGGER `parts-ai` AFTER INSERT ON parts FOR EACH ROW
BEGIN
  -- A comment; with a semicolon.
  INSERT INTO log_of_trigger (what) VALUES (CONCAT('inserted ', NEW.id, ' ''quoted'' ;'));
END;;
CREATE PROCEDURE `do it`(IN n INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  WHILE i < n DO SET i = i + 1; END WHILE;
  SELECT i, 'ä;🐬';
END;;
CREATE DEFINER=`owner`@`%` FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2;;
CREATE EVENT `every day` ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DISABLE DO DELETE FROM log_of_trigger;;
DELIMITER ;

USE plain;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'one'), (2, 'two');
-- A writer moves amounts from one row to the other; the sum never changes.
CREATE TABLE a_account (id INT PRIMARY KEY, amount INT);
CREATE TABLE z_account (id INT PRIMARY KEY, amount INT);
INSERT INTO a_account VALUES (1, 1000000);
INSERT INTO z_account VALUES (1, 0);
CREATE TABLE m_filler (id INT PRIMARY KEY, b BLOB);
INSERT INTO m_filler SELECT seq, REPEAT(UNHEX(SHA2(seq, 512)), 100) FROM seq_1_to_2000;
